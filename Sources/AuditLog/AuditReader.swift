internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

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
    /// The names of the log's files, the newest first. A file gets the next name when the agent begins a new one.
    private let names: [String]
    /// The file that is being read, whatever its name is by now.
    private var file: OpenFile
    private var rest: [UInt8] = []
    private var items: [Item] = []
    private var check: AuditCheck
    /// Whether the log ended within a line when ``next()`` returned nil: that line is being written, or its writer was ended.
    package private(set) var endsWithinLine = false

    /// - Parameter path: the path of the current file.
    /// - Throws: `invalidDeveloperParameter` (-51112), with what to do, if there is no such file or it is not a regular one.
    package init(path: String) throws(TokenError) {
        self.path = path
        names = [path] + (1...AuditWriter.olderFiles).map { "\(path).\($0)" }
        for name in names where FileStatus(name) != nil {
            do throws(TrustedFileError) {
                _ = try FileDescriptor.named(name)
            } catch {
                throw TokenError(.invalidDeveloperParameter, "the audit log \(name) cannot be read: \(error)")
            }
        }
        do throws(SystemError) {
            file = try Self.openOldest(of: names)
        } catch {
            throw TokenError(
                .invalidDeveloperParameter,
                error.isFileMissing ? "there is no audit log at \(path)" : "\(path) cannot be read: \(error)")
        }
        check = AuditCheck(mayHaveDropped: names.last.map(file.isAt) ?? false)
    }

    /// Returns the next line or finding; nil at the present end of the log. A later call continues from there.
    package mutating func next() throws(TokenError) -> Item? {
        while items.isEmpty {
            do throws(SystemError) {
                guard try readMore() else { return nil }
            } catch {
                throw TokenError(.invalidDeveloperParameter, "\(path) cannot be read: \(error)")
            }
        }
        return items.removeFirst()
    }

    /// Reads the next part of the log; returns false at its end.
    private mutating func readMore() throws(SystemError) -> Bool {
        // Looked for before the reading: once there is a newer file, the agent writes nothing more to this one.
        let next = nextName
        let bytes = try file.read()
        guard !bytes.isEmpty else {
            guard let next else {
                // A line that is not complete is read again: the agent withdraws it if the disk is full, and writes another one there.
                try file.goBack(by: rest.count)
                endsWithinLine = !rest.isEmpty
                rest = []
                return false
            }
            try goOn(with: next)
            return true
        }
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

    /// Begins to read another file. Has no effect if the files are being renamed: the caller has to look again for the next one.
    private mutating func goOn(with name: String) throws(SystemError) {
        let next: OpenFile
        do throws(SystemError) {
            next = try OpenFile(name)
        } catch {
            guard error.isFileMissing else { throw error }
            return
        }
        guard nextName == name, next.isAt(name) else { return }
        if !rest.isEmpty { items += check.items(of: rest) }
        (file, rest) = (next, [])
    }

    /// The name of the file that follows the one that is being read; nil if there is none yet.
    private var nextName: String? {
        // From the newest on, since files are renamed to older names.
        if let index = names.firstIndex(where: file.isAt) {
            return names[..<index].last { FileStatus($0) != nil }
        }
        // The file has been deleted, as the oldest one is when a new one is begun.
        let last = check.lastNumber
        return names.last { Self.firstNumber(of: $0).map { $0 > last } ?? false }
    }

    /// The number of the first line of a file; nil if it cannot be read.
    private static func firstNumber(of name: String) -> Int64? {
        guard let file = try? OpenFile(name), let bytes = try? file.read() else { return nil }
        return AuditLine(bytes.prefix { $0 != UInt8(ascii: "\n") })?.number
    }

    private static func openOldest(of names: [String]) throws(SystemError) -> OpenFile {
        while true {
            let oldest = names.last { FileStatus($0) != nil }
            guard let oldest else { throw SystemError(number: ENOENT) }
            let file = try OpenFile(oldest)
            // The files may have been renamed meanwhile.
            if names.last(where: { FileStatus($0) != nil }) == oldest, file.isAt(oldest) { return file }
        }
    }
}

/// A file of the log while it is being read.
private final class OpenFile: Sendable {
    private let file: FileDescriptor

    init(_ path: String) throws(SystemError) { file = try FileDescriptor(readingRegular: path) }

    /// Reads the next bytes; none at the present end.
    func read() throws(SystemError) -> [UInt8] { try file.readStream(limit: 64 << 10) }

    /// Goes back in the file, so that its last bytes are read again.
    func goBack(by count: Int) throws(SystemError) {
        guard lseek(file.number, off_t(-count), SEEK_CUR) >= 0 else { throw .last }
    }

    /// Whether a path leads to this file.
    func isAt(_ path: String) -> Bool { file.isAt(path) }
}
