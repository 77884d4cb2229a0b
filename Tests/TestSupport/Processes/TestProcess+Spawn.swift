internal import CAgentSystem
internal import Foundation

extension TestProcess {
    /// Creates a pair of connected sockets, which is used as a pipe. Unlike a pipe, it can be created with close-on-exec in one
    /// step, so that no process of another test inherits it and keeps it open.
    static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw POSIXError(.EMFILE) }
        return (ends[0], ends[1])
    }

    /// Starts a program without blocked signals, which it would inherit from the threads of Swift's pool.
    static func spawn(
        _ words: [String], _ environment: [String: String], output: Int32, errors: Int32
    ) throws -> Int32 {
        #if os(Linux)
            var attributes = posix_spawnattr_t()
            var actions = posix_spawn_file_actions_t()
        #else
            var attributes: posix_spawnattr_t?
            var actions: posix_spawn_file_actions_t?
        #endif
        posix_spawnattr_init(&attributes)
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawnattr_destroy(&attributes)
            posix_spawn_file_actions_destroy(&actions)
        }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // The program inherits no sockets of the agents and emulators in this process, which would stay open otherwise.
        _ = agent_spawn_close_from(&actions, &attributes, 3)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var processID = pid_t()
        let code = posix_spawn(&processID, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        return processID
    }
}
