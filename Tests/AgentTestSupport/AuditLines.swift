package import AuditLog
internal import Testing

extension AuditReader {
    /// The lines of a log. Each finding is an issue of the test.
    package static func lines(of path: String) throws -> [AuditLine] {
        var reader = try AuditReader(path: path)
        var lines: [AuditLine] = []
        while let item = try reader.next() {
            guard case .line(_, let line) = item else {
                Issue.record("\(item)")
                continue
            }
            lines.append(line)
        }
        return lines
    }
}
