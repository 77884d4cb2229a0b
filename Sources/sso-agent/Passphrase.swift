internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The passphrase that whoever started the agent hands over in a file descriptor.
enum Passphrase {
    /// Reads one line, and closes the descriptor.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) when there is nothing to read, or more than a passphrase may have.
    static func read(_ descriptor: Int32) throws(TokenError) -> Secret {
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        defer {
            bytes.withUnsafeMutableBytes { wipeMemory($0) }
            close(descriptor)
        }
        var count = 0
        while count < bytes.count {
            let length = readByte(descriptor, &bytes[count])
            if length < 0, errno == EINTR { continue }
            guard length == 1, bytes[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        guard count > 0 else {
            throw TokenError(.invalidDeveloperParameter, "file descriptor \(descriptor) holds no passphrase")
        }
        guard count <= longest else {
            throw TokenError(
                .invalidDeveloperParameter, "a passphrase may have \(longest) bytes, and this one has more")
        }
        return Secret(bytes: bytes[..<count])
    }

    /// Bytes of a passphrase; the same for `ssoctl`.
    private static let longest = 4096
}

/// A name of its own, since `Passphrase.read` hides the system's.
private func readByte(_ descriptor: Int32, _ byte: inout UInt8) -> Int { read(descriptor, &byte, 1) }
