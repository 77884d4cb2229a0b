internal import Foundation
internal import TokenModel

/// The passphrase that whoever started the agent hands over in a file descriptor.
enum Passphrase {
    /// Reads one line, and closes the descriptor.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) when there is nothing to read.
    static func read(_ descriptor: Int32) throws(TokenError) -> Secret {
        var bytes = [UInt8](repeating: 0, count: 4096)
        defer {
            bytes.withUnsafeMutableBytes { wipeMemory($0) }
            close(descriptor)
        }
        var count = 0
        while count < bytes.count, Foundation.read(descriptor, &bytes[count], 1) == 1,
            bytes[count] != UInt8(ascii: "\n")
        {
            count += 1
        }
        guard count > 0 else {
            throw TokenError(.invalidDeveloperParameter, "file descriptor \(descriptor) holds no passphrase")
        }
        return Secret(bytes: bytes[..<count])
    }
}
