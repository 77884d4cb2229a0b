internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Starts programs in processes of their own.
///
/// A program gets the default signal mask, because the threads of Swift's pool block all signals, and a program that inherited that could
/// not be terminated. It gets none of this process's open files, which a browser, for example, would keep open for days.
package enum ChildProgram {
    /// Starts a program that is found on `PATH`.
    ///
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - descriptor: the standard input and output of the program; nil for `/dev/null`.
    /// - Returns: the process ID, whose end the caller waits for; nil if the program cannot be started.
    package static func start(_ words: [String], _ descriptor: Int32? = nil) -> Int32? {
        start(words) { agent_spawn($0, descriptor ?? -1, $1) }
    }

    /// Starts a program that is found on `PATH` and may outlive this process, such as a browser, in a session of its own: Ctrl-C ends this
    /// process only. Its standard input and output are `/dev/null`; so is its standard error, unless that is a terminal, because whoever
    /// reads a pipe would wait for the end of the program.
    ///
    /// - Parameter words: the program and its arguments.
    /// - Returns: the process ID, whose end the caller waits for; nil if the program cannot be started.
    package static func startApart(_ words: [String]) -> Int32? {
        start(words) { agent_spawn_apart($0, $1) }
    }

    private typealias Words = UnsafePointer<UnsafeMutablePointer<CChar>?>

    private static func start(_ words: [String], _ spawn: (Words, UnsafeMutablePointer<Int32>) -> Int32) -> Int32? {
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: Int32 = 0
        return spawn(arguments, &child) == 0 ? child : nil
    }
}
