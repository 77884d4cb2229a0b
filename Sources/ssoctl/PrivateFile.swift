internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Files that hold secrets.
enum PrivateFile {
    static func exists(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0
    }

    /// - Throws: `invalidDeveloperParameter` when it cannot be read, or is longer than an import may be.
    static func read(_ path: String) throws(TokenError) -> Secret {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw failure("cannot read", path) }
        defer { close(file) }
        var status = stat()
        let size = fstat(file, &status) == 0 ? Int(clamping: status.st_size) : 0
        // One more than there is, to see the end; a pipe does not say how much there is.
        var bytes = [UInt8](repeating: 0, count: min(max(size, 1 << 16), longest) + 1)
        defer { bytes.withUnsafeMutableBytes { wipeMemory($0) } }
        var count = 0
        while true {
            let length = readSome(file, &bytes, from: count)
            if length == 0 { return Secret(bytes: bytes[..<count]) }
            guard length > 0 else {
                if errno == EINTR { continue }
                throw failure("cannot read", path)
            }
            count += length
            guard count <= longest else {
                throw TokenError(.invalidDeveloperParameter, "\(path) is longer than \(longest >> 20) MiB")
            }
            if count == bytes.count { grow(&bytes) }
        }
    }

    /// Twice the room. An array that grows by itself leaves its old bytes behind.
    private static func grow(_ bytes: inout [UInt8]) {
        var larger = [UInt8](repeating: 0, count: min(bytes.count * 2, longest + 1))
        larger.withUnsafeMutableBytes { room in bytes.withUnsafeBytes { room.copyMemory(from: $0) } }
        bytes.withUnsafeMutableBytes { wipeMemory($0) }
        bytes = larger
    }

    /// Writes a file for its owner alone, whole or not at all.
    ///
    /// - Throws: `invalidDeveloperParameter` when it cannot be written, or is there and not to be replaced.
    static func write(_ secret: Secret, to path: String, replacing: Bool) throws(TokenError) {
        // Beside the file, so that the rename stays within its file system.
        let draft = "\(path).\(getpid()).part"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("cannot write", path) }
        let isWritten = fchmod(file, 0o600) == 0 && writeAll(secret, to: file) && fsync(file) == 0
        let reason = errno
        close(file)
        guard isWritten else {
            unlink(draft)
            errno = reason
            throw failure("cannot write", path)
        }
        // A link fails where a file is; a rename replaces it.
        let isNamed = replacing ? rename(draft, path) == 0 : link(draft, path) == 0
        let failed = isNamed ? nil : failure("cannot write", path)
        unlink(draft)
        if let failed { throw failed }
    }

    private static func writeAll(_ secret: Secret, to file: Int32) -> Bool {
        secret.withBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeSome(file, UnsafeRawBufferPointer(rebasing: rest))
                if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return false }
            }
            return true
        }
    }

    private static func failure(_ what: String, _ path: String) -> TokenError {
        TokenError(.invalidDeveloperParameter, "\(what) \(path): \(String(cString: strerror(errno)))")
    }

    /// As much as the agent takes.
    private static let longest = 64 << 20
}

// Outside the type, whose functions have the same names as the system's.
private func readSome(_ file: Int32, _ buffer: inout [UInt8], from start: Int) -> Int {
    buffer.withUnsafeMutableBytes { bytes in
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
        return read(file, rest.baseAddress, rest.count)
    }
}

private func writeSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}
