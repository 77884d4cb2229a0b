#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The sanitizers that programs can be built with (`make sanitize`).
package enum Sanitizer {
    /// Whether this process has one. It has a heap of its own, which keeps released memory, so that tests of what the memory holds and
    /// how much it is prove nothing.
    package static let isOn = ["__asan_init", "__tsan_init"].contains { dlsym(everyLibrary, $0) != nil }

    #if os(Linux)
        private static let everyLibrary: UnsafeMutableRawPointer? = nil
    #else
        private static let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
    #endif
}
