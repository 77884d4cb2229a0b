internal import CAgentSystem
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A program started beside the app.
///
/// It gets a clean slate of signals: threads of Swift's pool block them all, and a browser that inherited that could not be
/// told to quit. Nor does it get the app's open files: what the app closes has to be closed, not held by a browser for days.
enum ChildProcess {
    /// Starts a program found on `PATH`; its standard input and output lead nowhere.
    ///
    /// - Parameter onExit: is told its exit status, or 128 and the number of the signal that ended it, from a thread of
    ///   its own.
    /// - Returns: false when it cannot be started.
    static func start(_ words: [String], onExit: @escaping @Sendable (Int32) -> Void) -> Bool {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        guard agent_spawn(&arguments, -1, &child) == 0 else { return false }
        BackgroundThread.start { [child] in onExit(agent_wait(child)) }
        return true
    }
}
