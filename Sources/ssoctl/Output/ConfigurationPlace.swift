internal import PosixFiles
internal import TokenModel

/// A line of a configuration file with an error.
struct ConfigurationPlace: Equatable {
    let file: String
    /// Counted from 1.
    let line: Int

    /// Reads the place at the beginning of a message, as in `/etc/sso-agent/config.toml:3: …`. Nil if there is none.
    init?(_ message: String) {
        guard message.hasPrefix("/"), let end = message.firstRange(of: ": ") else { return nil }
        let place = message[..<end.lowerBound]
        guard let colon = place.lastIndex(of: ":"), let line = Int(place[place.index(after: colon)...]) else {
            return nil
        }
        (file, self.line) = (String(place[..<colon]), line)
    }

    /// The command with which the user corrects the line: with the editor of the user, or with that of root's files.
    var editCommand: String { Self.editCommand(file, "+\(line) ") }

    /// The command with which the user changes a file.
    static func editCommand(_ file: String, _ line: String = "") -> String {
        guard FileStatus(file)?.isOwn != false else { return "sudoedit \(file.shellWord)" }
        return "${EDITOR:-nano} \(line)\(file.shellWord)"
    }
}
