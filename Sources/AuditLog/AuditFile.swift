internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The audit log as files: the current one, and older ones whose names end with `.1` to `.4`. Used on one thread at a time.
final class AuditFile: AuditSink {
    private let path: String
    private let limit: Int
    /// The chain up to the last line that was written.
    private var chain = AuditChain()
    /// Whether `chain` is that of the file.
    private var isContinued = false

    /// - Parameter limit: the size in bytes from which on a new file is begun.
    init(path: String, limit: Int) {
        self.path = path
        self.limit = limit
    }

    func append(_ events: [AuditEvent]) throws(AuditFailure) {
        var written = 0
        do throws(SystemError) {
            if !isContinued { try continueChain() }
            isContinued = true
            var (bytes, ends, chains): ([UInt8], [Int], [AuditChain]) = ([], [], [chain])
            var next = chain
            for event in events {
                bytes += next.append(event) + [UInt8(ascii: "\n")]
                ends.append(bytes.count)
                chains.append(next)
            }
            let (lines, failure) = try write(bytes, ends)
            (written, chain) = (lines, chains[lines])
            if let failure { throw failure }
        } catch {
            throw AuditFailure(
                error: TokenError(.storeUnavailable, "the audit log \(path) cannot be written: \(error)"),
                written: written)
        }
    }

    /// Appends lines, and nothing of a line that cannot be written whole: a part of one would break the chain. Those before it stay, since a
    /// reader may have seen them.
    ///
    /// - Parameter ends: the lengths of the bytes up to the end of each line.
    /// - Returns: the number of lines that were written, and what has kept the others from it.
    private func write(_ bytes: [UInt8], _ ends: [Int]) throws(SystemError) -> (lines: Int, failure: SystemError?) {
        if let size = FileStatus(path)?.size, size > 0, size + bytes.count > limit { rotate() }
        let file = try FileDescriptor(appendingTo: path)
        let size = try file.status.size
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try file.writeAll(bytes) }
        }
        guard case .failure(let error) = result else { return (ends.count, nil) }
        let length = (try? file.status).map { $0.size - size } ?? 0
        let whole = ends.prefix { $0 <= length }
        ftruncate(file.number, off_t(size + (whole.last ?? 0)))
        return (whole.count, error)
    }

    /// Makes room for a new file. Only those older files are renamed that are in the way of a newer one: a kill between two renames leaves
    /// a gap, which the next rotation fills, and drops no file for.
    private func rotate() {
        let files = [path] + (1...AuditWriter.olderFiles).map { "\(path).\($0)" }
        // Not a file that cannot be looked at now, which would be replaced.
        let end = files.indices.first { $0 > 0 && (try? FileStatus.exists(files[$0])) == false } ?? files.count - 1
        for index in (0..<end).reversed() { rename(files[index], files[index + 1]) }
    }

    /// Reads the last lines of the newest file that has one.
    private func continueChain() throws(SystemError) {
        try FileDescriptor(appendingTo: path).restrictToOwner()
        chain = AuditChain()
        for name in [path, "\(path).1"] {
            guard let end = try? Self.lastBytes(of: name), !end.isEmpty else { continue }
            for line in end.split(separator: UInt8(ascii: "\n")) {
                chain.follow(line, number: AuditLine(line)?.number ?? chain.number + 1)
            }
            // The agent was killed within a line: the line stays as it is, and shows as damaged.
            guard name == path, end.last != UInt8(ascii: "\n") else { return }
            if let failure = try write([UInt8(ascii: "\n")], [1]).failure { throw failure }
            return
        }
    }

    /// The last 64 KiB of a file, from the beginning of a line on.
    private static func lastBytes(of path: String) throws(SystemError) -> [UInt8] {
        let file = try FileDescriptor(readingRegular: path)
        let length = 64 << 10
        let start = max(try file.status.size - length, 0)
        let bytes = try file.readStream(from: start, limit: length)
        guard start > 0, let first = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return bytes }
        return Array(bytes[(first + 1)...])
    }
}
