internal import Foundation

/// A certificate for `localhost` and 127.0.0.1 that stands for itself, good until 2120. It protects nothing.
enum TestCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBRzCB7qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
        dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
        bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5yj5kIh4EaKANwXw
        yIt8AKlm7R3O2X++2z/HBEyiQmJsXBgsO9p9KmpTRRezW5fkLuj1o1fIY6jBdzKB
        2l/aMqMvMC0wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQF
        MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgNg6M2d/c8ZNKU6Ftn2+ZAu1U0z4D5oXM
        6rnglKRSC6QCIQCOjnL/8cNp5MbKqZ9JHJC6ZsYPKP2PcOSImAVaBVF72A==
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPj3eOi495o6SefDf
        piaZM2CAmDaJUPEvf1QuiQQCbk6hRANCAATnKPmQiHgRooA3BfDIi3wAqWbtHc7Z
        f77bP8cETKJCYmxcGCw72n0qalNFF7Nbl+Qu6PWjV8hjqMF3MoHaX9oy
        -----END PRIVATE KEY-----
        """

    /// Runs `body` with the path of a file that holds the certificate.
    static func withFile<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try Data(certificate.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file.path)
    }
}
