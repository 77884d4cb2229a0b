internal import PosixFiles
package import TokenModel

/// Reads the log's files from the oldest on, and checks the chain of their lines.
package struct AuditReader {
    /// What a call of ``next()`` returns.
    package enum Item: Sendable {
        /// A line as it was written, and its content.
        case line(String, AuditLine)
        /// A break of the chain before the next line, in words.
        case finding(String)
    }

    private let path: String
    /// The name of the current file and the position in it.
    private var files: [String]
    private var offset = 0
    private var rest: [UInt8] = []
    private var items: [Item] = []
    private var check: AuditCheck

    /// - Parameter path: the path of the current file.
    /// - Throws: `invalidDeveloperParameter` (-51112), with what to do, if there is no such file or it is not a regular one.
    package init(path: String) throws(TokenError) {
        self.path = path
        let older = (1...AuditWriter.olderFiles).reversed().map { "\(path).\($0)" }
        files = (older + [path]).filter { FileStatus($0) != nil }
        check = AuditCheck(mayHaveDropped: files.first == older.first)
        guard !files.isEmpty else {
            throw TokenError(.invalidDeveloperParameter, "there is no audit log at \(path)")
        }
        for name in files {
            do throws(TrustedFileError) {
                _ = try FileDescriptor.named(name)
            } catch {
                throw TokenError(.invalidDeveloperParameter, "the audit log \(name) cannot be read: \(error)")
            }
        }
    }

    /// Returns the next line or finding; nil at the present end of the log. A later call goes on from there.
    package mutating func next() throws(TokenError) -> Item? {
        while items.isEmpty {
            do throws(SystemError) {
                guard try readMore() else { return nil }
            } catch {
                throw TokenError(.invalidDeveloperParameter, "\(files.first ?? path) cannot be read: \(error)")
            }
        }
        return items.removeFirst()
    }

    /// Reads the next part of the log; returns false at its end.
    private mutating func readMore() throws(SystemError) -> Bool {
        guard let name = files.first else { return false }
        let file = try FileDescriptor(readingRegular: name)
        // The current file has been renamed, and its rest is in the file with the next name.
        if name == path, try file.status.size < offset {
            files = ["\(path).1", path]
            return true
        }
        let bytes = try file.readStream(from: offset, limit: 64 << 10)
        guard !bytes.isEmpty else {
            guard files.count > 1 else { return false }
            if !rest.isEmpty { items += check.items(of: rest) }
            (rest, offset) = ([], 0)
            files.removeFirst()
            return true
        }
        offset += bytes.count
        // Only the new bytes are searched, and moved once, so that the time is linear in the length of the log.
        var start = rest.startIndex
        var searched = rest.endIndex
        rest += bytes
        while let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            items += check.items(of: rest[start..<end])
            start = end + 1
            searched = start
        }
        rest.removeSubrange(..<start)
        return true
    }
}
