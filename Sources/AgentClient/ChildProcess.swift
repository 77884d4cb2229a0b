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
        var attributes = posix_spawnattr_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        _ = agent_spawn_close_from(&actions, 3)

        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var processID = pid_t()
        guard posix_spawnp(&processID, words.first ?? "", &actions, &attributes, &arguments, environ) == 0 else {
            return false
        }
        let child = processID
        BackgroundThread.start {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            onExit(status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F))
        }
        return true
    }
}
