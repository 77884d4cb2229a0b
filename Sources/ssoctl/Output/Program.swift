internal import CAgentSystem
internal import PosixFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Other programs, which help if they are installed.
enum Program {
    /// What a program prints, if that is short; nil if it cannot be started, fails, or takes longer than two seconds.
    static func output(of words: [String]) -> String? {
        guard let ends = try? PipeEnds() else { return nil }
        defer { close(ends.read) }
        let child = ChildProgram.start(words, ends.write)
        close(ends.write)
        // Output that fits into the pipe is read afterwards; with more, the program waits, and is ended after two seconds.
        guard let child, agent_wait_or_kill(child, 2000) == 0,
            let file = try? FileDescriptor(opened: dup(ends.read)), let bytes = try? file.readStream(limit: 32 << 10)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
