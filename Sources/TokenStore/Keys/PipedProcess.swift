internal import CAgentSystem
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A helper program that is given a few bytes and asked for a few; it blocks, and has an end.
enum PipedProcess {
    struct Ended {
        var status: Int32
        var output: [UInt8]
    }

    /// Runs a program found on `PATH`; nil when it cannot be started. One that takes longer than `seconds` in all, or says
    /// more than 64 KiB, is ended.
    static func run(_ words: [String], input: [UInt8], seconds: Int32) -> Ended? {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else { return nil }
        defer { close(ends[0]) }
        let started = spawn(words, ends[1])
        close(ends[1])
        guard let child = started else { return nil }
        // A few hundred bytes always fit into the socket's buffer.
        _ = send(ends[0], input, input.count, Int32(MSG_NOSIGNAL))
        shutdown(ends[0], Int32(SHUT_WR))
        let output = read(ends[0], until: deadline)
        // It may have said all that it will, and go on all the same.
        let status = agent_wait_or_kill(child, output == nil ? 0 : milliseconds(until: deadline))
        return Ended(status: status, output: output ?? [])
    }

    /// Bytes.
    private static let most = 65_536

    /// Nil when it did not come to an end in time, or within bounds.
    private static func read(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> [UInt8]? {
        var output: [UInt8] = []
        // An array that grows leaves its old bytes behind.
        output.reserveCapacity(most + 4096)
        var buffer = [UInt8](repeating: 0, count: 4096)
        defer { buffer.wipe() }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while output.count < most {
            let ready = poll(&event, 1, milliseconds(until: deadline))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return output }
            output += buffer.prefix(count)
        }
        return nil
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = (deadline - ContinuousClock.now) / .milliseconds(1)
        return Int32(max(left.rounded(.up), 0))
    }

    private static func spawn(_ words: [String], _ descriptor: Int32) -> pid_t? {
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        return agent_spawn(&arguments, descriptor, &child) == 0 ? child : nil
    }

    private static var streamType: Int32 {
        #if os(Linux)
            Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #else
            SOCK_STREAM
        #endif
    }
}
