#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The certificates in a file in the PEM format (RFC 7468), of at most 4 MiB.
package enum PEMCertificates {
    /// The bytes of a file that are read.
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

    /// The same, of the content of a file.
    package static func canBeRead(_ file: [UInt8]) -> Bool {
        guard let start = file.firstRange(of: begin),
            let stop = file[start.upperBound...].firstRange(of: end),
            let der = Data(
                base64Encoded: Data(file[start.upperBound..<stop.lowerBound]), options: .ignoreUnknownCharacters)
        else { return false }
        // A certificate is a SEQUENCE (RFC 5280 section 4.1).
        return der.count > 64 && der.first == 0x30
    }

    /// The number of blocks that begin a certificate.
    package static func count(in file: [UInt8]) -> Int { file.ranges(of: begin).count }

    private static let begin = Array("-----BEGIN CERTIFICATE-----".utf8)
    private static let end = Array("-----END CERTIFICATE-----".utf8)
}
