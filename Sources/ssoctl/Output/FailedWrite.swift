internal import PosixFiles
internal import TokenModel

/// A file that could not be written, as the message of an error says.
struct FailedWrite {
    private let path: String
    private let cause: Substring

    /// Reads a message such as `cannot write /tmp/token: No space left on device`. Nil if it is another one.
    init?(_ message: String) {
        guard message.hasPrefix(Self.start), let colon = message.firstRange(of: ": ") else { return nil }
        path = String(message[..<colon.lowerBound].dropFirst(Self.start.count))
        cause = message[colon.upperBound...]
    }

    /// The command that helps, or that shows what has to be changed; nil if none does.
    var command: String? {
        let folder = PrivateFiles.parent(of: path)
        if cause.hasPrefix("No space left on device") { return CommandLineWords("df", "-h", folder).text }
        guard cause.hasPrefix("No such file or directory"), FileStatus(folder) == nil else { return nil }
        return CommandLineWords("mkdir", "-p", folder).text
    }

    private static let start = "cannot write "
}
