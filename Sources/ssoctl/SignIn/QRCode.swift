internal import CAgentSystem
internal import PosixFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Draws QR codes with the program `qrencode`, if it is installed.
enum QRCode {
    /// The lines of a QR code with a URL; nil if there is no program to draw it, or the URL is too long for a terminal.
    static func drawing(of url: String) -> String? {
        guard url.utf8.count <= longestURL, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return output(of: ["qrencode", "--type=UTF8", "--margin=2", "--output=-", "--", url])
            .flatMap { $0.contains("█") ? $0 : nil }
    }

    /// What a program prints; nil if it cannot be started, fails, or takes longer than two seconds.
    private static func output(of words: [String]) -> String? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        let hasStarted = agent_spawn(&arguments, ends[1], &child) == 0
        close(ends[1])
        // The drawing fits into the pipe, so that the program does not wait for a reader.
        guard hasStarted, agent_wait_or_kill(child, 2000) == 0,
            let file = try? FileDescriptor(opened: dup(ends[0])), let bytes = try? file.readStream(limit: 32 << 10)
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let longestURL = 200
}
