internal import Foundation

#if os(Linux)
    /// What restricts the files of a process. A kernel may have been built or started without it.
    package enum Landlock {
        /// Whether the kernel has it, by the version of its interface, for `.enabled(if:)`. The agent's function in C would restrict this
        /// process.
        package static let isAvailable: Bool = {
            typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
            guard let function = dlsym(nil, "syscall") else { return false }
            // landlock_create_ruleset, with LANDLOCK_CREATE_RULESET_VERSION.
            return unsafeBitCast(function, to: Call.self)(444, 0, 0, 1) > 0
        }()
    }
#endif
