internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import PosixFiles

/// Whether a file of certificate authorities has one that can be read.
@Suite(.bounded) struct PEMCertificatesTests {
    /// A certificate, as far as its first bytes and its length show it.
    private static func certificate(first: UInt8 = 0x30, bytes: Int = 100) -> String {
        let der = Data([first] + Array(repeating: 7, count: bytes - 1))
        return """
            -----BEGIN CERTIFICATE-----
            \(der.base64EncodedString(options: .lineLength64Characters))
            -----END CERTIFICATE-----

            """
    }

    private func canBeRead(_ text: String) throws -> Bool {
        let folder = try TemporaryFolder()
        try text.write(toFile: folder.file("ca.pem"), atomically: false, encoding: .utf8)
        return try PEMCertificates.canBeRead(FileDescriptor(readingRegular: folder.file("ca.pem")))
    }

    @Test func findsACertificateAtTheBeginning() throws {
        let isFound = try canBeRead(Self.certificate())
        #expect(isFound)
    }

    /// Some bundles begin with the names of all authorities, or with the first one in words.
    @Test(arguments: [16_300, 16_400, 100_000]) func findsACertificateBehindALongComment(bytes: Int) throws {
        let comment = String(repeating: "# An authority of the company\n", count: bytes / 30 + 1)
        let isFound = try canBeRead(comment + Self.certificate())
        #expect(isFound)
        let isFoundAlone = try canBeRead(comment)
        #expect(!isFoundAlone)
    }

    @Test func refusesWhatIsNoCertificate() throws {
        for text in [
            "", Self.certificate(first: 0x31), Self.certificate(bytes: 64),
            Self.certificate().replacing("END CERTIFICATE", with: "END KEY"),
        ] {
            let isFound = try canBeRead(text)
            #expect(!isFound, "\(text)")
        }
    }
}
