package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A passphrase as one line of a terminal, a pipe or a file.
package enum PassphraseLine {
    /// The length of the longest passphrase, in bytes.
    package static let limit = 4096

    /// Reads up to the end of the line and not beyond it. The bytes read are wiped.
    ///
    /// - Returns: the line without its end; empty if there is nothing to read.
    /// - Throws: `invalidDeveloperParameter` (-51112) if the line is longer than `limit`.
    package static func read(from descriptor: Int32) throws(TokenError) -> Secret {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        defer { bytes.wipe() }
        var count = 0
        while count < bytes.count {
            let length = readByte(descriptor, &bytes[count])
            if length < 0, errno == EINTR { continue }
            guard length == 1, bytes[count] != UInt8(ascii: "\n") else { break }
            count += 1
        }
        guard count <= limit else {
            throw TokenError(.invalidDeveloperParameter, "a passphrase may have \(limit) bytes, and this one has more")
        }
        return Secret(bytes: bytes[..<count])
    }

    /// Reads the line, and closes the descriptor.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if there is no line, or it is longer than `limit`.
    package static func readAndClose(_ descriptor: Int32) throws(TokenError) -> Secret {
        defer { close(descriptor) }
        let line = try read(from: descriptor)
        guard !line.isEmpty else {
            throw TokenError(.invalidDeveloperParameter, "file descriptor \(descriptor) holds no passphrase")
        }
        return line
    }
}

/// `read(2)` of one byte; the method above hides the function.
private func readByte(_ descriptor: Int32, _ byte: inout UInt8) -> Int { read(descriptor, &byte, 1) }
