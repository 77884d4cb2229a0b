internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Files that hold secrets, read and written part by part.
enum PrivateFile {
    static func exists(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0
    }

    fileprivate static func failure(_ what: String, _ path: String, _ reason: Int32 = errno) -> TokenError {
        TokenError(.invalidDeveloperParameter, "\(what) \(path): \(String(cString: strerror(reason)))")
    }

    fileprivate static let partSize = 256 * 1024
}

/// A file that is being read.
final class PrivateFileReader {
    /// The length in bytes; nil of what does not say, such as a pipe.
    let size: Int?
    private(set) var position = 0
    private let path: String
    private let file: Int32

    /// - Throws: `invalidDeveloperParameter` when it cannot be read.
    init(_ path: String) throws(TokenError) {
        self.path = path
        file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw PrivateFile.failure("cannot read", path) }
        var status = stat()
        let isRegular = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(clamping: status.st_size) : nil
    }

    deinit { if file >= 0 { close(file) } }

    /// The next bytes; nil at the end.
    ///
    /// - Throws: `invalidDeveloperParameter` when they cannot be read.
    func next() throws(TokenError) -> Secret? {
        var bytes = [UInt8](repeating: 0, count: PrivateFile.partSize)
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        while true {
            let length = bytes.withUnsafeMutableBytes { readSome(file, $0) }
            if length == 0 { return nil }
            if length > 0 {
                position += length
                return Secret(bytes: bytes[..<length])
            }
            guard errno == EINTR else { throw PrivateFile.failure("cannot read", path) }
        }
    }
}

/// A file that is being written for its owner alone. It has its name when it is whole, and not before; what was begun and not
/// finished is removed.
final class PrivateFileWriter {
    private let path: String
    private let replaces: Bool
    /// Beside the file, so that the rename stays within its file system.
    private let draft: String
    private let file: Int32
    private var isFinished = false

    /// - Throws: `invalidDeveloperParameter` when it cannot be written, or is there and not to be replaced.
    init(_ path: String, replacing replaces: Bool) throws(TokenError) {
        self.path = path
        self.replaces = replaces
        draft = "\(path).\(getpid()).part"
        unlink(draft)
        file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0, fchmod(file, 0o600) == 0 else { throw PrivateFile.failure("cannot write", path) }
    }

    deinit {
        if file >= 0 { close(file) }
        if !isFinished { unlink(draft) }
    }

    /// Adds bytes.
    ///
    /// - Throws: `invalidDeveloperParameter` when they cannot be written.
    func write(_ part: Secret) throws(TokenError) {
        let isWritten = part.withBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeSome(file, UnsafeRawBufferPointer(rebasing: rest))
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
            }
            return true
        }
        guard isWritten else { throw PrivateFile.failure("cannot write", path) }
    }

    /// Gives the file its name.
    ///
    /// - Throws: `invalidDeveloperParameter` when that cannot be done.
    func finish() throws(TokenError) {
        guard fsync(file) == 0 else { throw PrivateFile.failure("cannot write", path) }
        // A link fails where a file is; a rename replaces it.
        guard (replaces ? rename(draft, path) : link(draft, path)) == 0 else {
            throw PrivateFile.failure("cannot write", path)
        }
        unlink(draft)
        isFinished = true
    }
}

// Outside the types, whose functions have the same names as the system's.
private func readSome(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(file, buffer.baseAddress, buffer.count)
}

private func writeSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}
