internal import Foundation
internal import Subprocess

@testable internal import EntraEmulator

/// A self-signed certificate for this machine's own names, made by openssl.
enum TestCertificate {
    static func make(in directory: URL) async throws -> TLSFiles {
        let files = TLSFiles(
            certificateChain: directory.appending(path: "cert.pem").path,
            privateKey: directory.appending(path: "key.pem").path)
        let result = try await run(
            .name("openssl"),
            arguments: [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-addext", "keyUsage=critical,digitalSignature,keyCertSign",
                "-keyout", files.privateKey, "-out", files.certificateChain,
            ],
            output: .discarded, error: .string(limit: 1 << 16))
        guard result.terminationStatus.isSuccess else { throw TestFailure("openssl: \(result.standardError)") }
        return files
    }
}
