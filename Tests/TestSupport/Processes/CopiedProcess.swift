#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A copy of this process (`fork`), which Swift does not let programs make.
package enum CopiedProcess {
    /// Copies the process; returns 0 in the copy, and the copy's process ID otherwise.
    ///
    /// A copy does not run with the Thread Sanitizer.
    package static func make() throws -> Int32 {
        typealias Fork = @convention(c) () -> Int32
        guard let function = CFunction.address("fork") else { throw MissingFunction() }
        // The type is that of the function's declaration in C.
        return unsafeBitCast(function, to: Fork.self)()
    }

    /// Waits for the end of a copy, and returns its status as `waitpid` does; 0 if it has exited with 0.
    package static func wait(for copy: Int32) -> Int32 {
        var status: Int32 = -1
        while waitpid(copy, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private struct MissingFunction: Error {}
}

/// The functions in C that Swift does not let programs call.
enum CFunction {
    /// The address of a function of any library of this process; nil if there is none.
    static func address(_ name: String) -> UnsafeMutableRawPointer? {
        // RTLD_DEFAULT, a macro that Swift does not import.
        #if os(Linux)
            let everyLibrary: UnsafeMutableRawPointer? = nil
        #else
            let everyLibrary = UnsafeMutableRawPointer(bitPattern: -2)
        #endif
        return dlsym(everyLibrary, name)
    }
}
