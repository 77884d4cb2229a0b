internal import Foundation

/// The sanitizers that programs can be built with (`make sanitize`).
package enum Sanitizer {
    /// Whether this process has one. It has a heap of its own, which keeps released memory, so that tests of what the memory holds and
    /// how much it is prove nothing.
    package static var isOn: Bool { has("__asan_init") || isOfThreads }

    /// Whether this process has the Thread Sanitizer. A copy of a process that has threads (`fork`) does not run with it, nor a program
    /// that does not see its files.
    package static var isOfThreads: Bool { has("__tsan_init") }

    private static func has(_ function: String) -> Bool { CFunction.address(function) != nil }

    /// The variables of this process that the sanitizers of other processes need.
    static let variables = ProcessInfo.processInfo.environment.filter {
        ["LD_PRELOAD", "LSAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key)
    }
}
