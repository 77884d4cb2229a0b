internal import CAgentSystem
internal import Foundation
internal import TokenModel

/// A helper program that is given a few bytes and asked for a few; it blocks, and has an end.
enum PipedProcess {
    struct Ended {
        var status: Int32
        var output: [UInt8]
    }

    /// Runs a program found on `PATH`; nil when it cannot be started. One that takes longer than `seconds` is ended.
    static func run(_ words: [String], input: [UInt8], seconds: Int32) -> Ended? {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let started = spawn(words, ends[1])
        close(ends[1])
        guard let child = started else { return nil }
        // A few hundred bytes always fit into the socket's buffer.
        _ = send(ends[0], input, input.count, Int32(MSG_NOSIGNAL))
        shutdown(ends[0], Int32(SHUT_WR))
        let output = read(ends[0], seconds)
        if output == nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        return Ended(status: code, output: output ?? [])
    }

    /// Nil when it did not end in time.
    private static func read(_ descriptor: Int32, _ seconds: Int32) -> [UInt8]? {
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { buffer.withUnsafeMutableBytes { wipeMemory($0) } }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while output.count < 65_536 {
            guard poll(&event, 1, seconds * 1000) > 0 else { return nil }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            output += buffer.prefix(count)
        }
        return output
    }

    private static func spawn(_ words: [String], _ descriptor: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        // The agent's connections and files are its own.
        _ = agent_spawn_close_from(&actions, 3)
        // The threads of this process block signals that a program wants to get.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        guard let program = words.first, posix_spawnp(&child, program, &actions, &attributes, &arguments, environ) == 0
        else { return nil }
        return child
    }

    private static var streamType: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }
}
