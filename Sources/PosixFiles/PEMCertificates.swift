#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The certificates in a file in the PEM format (RFC 7468), of at most 4 MiB.
package enum PEMCertificates {
    /// The maximum number of bytes of a file that are read.
    package static let longestFile = 4 << 20

    /// Whether the file has a certificate, and the first one can be decoded. A bundle has hundreds; the TLS library decodes them all
    /// before the first request.
    ///
    /// Of a file that begins with a certificate, no more than the beginning is read.
    package static func canBeRead(_ file: borrowing FileDescriptor) throws(SystemError) -> Bool {
        let beginning = try file.readToEnd(limit: 16 << 10)
        if canBeRead(beginning) { return true }
        return canBeRead(beginning + (try file.readToEnd(limit: longestFile - beginning.count)))
    }

    /// Whether the content of a file has a certificate that can be read.
    package static func canBeRead(_ file: [UInt8]) -> Bool {
        guard let start = offset(of: begin, in: file, from: 0).map({ $0 + begin.count }),
            let stop = offset(of: end, in: file, from: start),
            let der = Data(base64Encoded: Data(file[start..<stop]), options: .ignoreUnknownCharacters)
        else { return false }
        // A certificate is a SEQUENCE (RFC 5280 section 4.1).
        return der.count > 64 && der.first == 0x30
    }

    /// The number of blocks that begin a certificate.
    package static func count(in file: [UInt8]) -> Int {
        var (count, place) = (0, 0)
        while let next = offset(of: begin, in: file, from: place) {
            count += 1
            place = next + begin.count
        }
        return count
    }

    /// The first place of a mark at `start` or behind it. The libraries' search was an eighth of the agent's start.
    private static func offset(of mark: [UInt8], in file: [UInt8], from start: Int) -> Int? {
        var place = start
        while let candidate = file[place...].firstIndex(of: mark[0]) {
            if file[candidate...].starts(with: mark) { return candidate }
            place = candidate + 1
        }
        return nil
    }

    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)
}
