internal import Foundation

#if os(Linux)
    /// What restricts the files of a process. A kernel may have been built or started without it.
    package enum Landlock {
        /// Whether the kernel has it, for `.enabled(if:)`.
        package static var isAvailable: Bool { version > 0 }

        /// The version of its interface; 0 without it. The agent's function in C would restrict this process.
        package static let version: Int = {
            typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
            guard let function = dlsym(nil, "syscall") else { return 0 }
            // landlock_create_ruleset, with LANDLOCK_CREATE_RULESET_VERSION.
            return max(unsafeBitCast(function, to: Call.self)(444, 0, 0, 1), 0)
        }()
    }
#endif
