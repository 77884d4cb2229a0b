internal import Curl
internal import Foundation
internal import NIOHTTP1
internal import TestSupport
internal import Testing

/// What libcurl and its TLS library would read, keep or accept if they were not told otherwise.
@Suite(.bounded) struct CurlDefaultsTests {
    @Test func readsNoPasswordsOfAFileAndKeepsNoCookies() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let passwords = "machine 127.0.0.1 login alice password secret\n"
            try passwords.write(toFile: folder.file(".netrc"), atomically: false, encoding: .utf8)
            setenv("HOME", folder.path, 1)
            let reply = ScriptedReply.answer(status: 200, headers: [("Set-Cookie", "name=secret; Path=/")], body: "")
            try await ScriptedServer.with({ _ in reply }) { server in
                let engine = CurlEngine(idle: .seconds(600))
                for _ in 1...2 {
                    let response = try? await engine.send(CurlRequest(url: "http://127.0.0.1:\(server.port)/"))
                    #expect(response?.status == 200)
                }
                await engine.close()
                let fields = server.received.map(\.headers)
                #expect(fields.count == 2)
                #expect(fields.allSatisfy { $0["Authorization"].isEmpty && $0["Cookie"].isEmpty })
            }
            withExtendedLifetime(folder) {}
        }
    }

    /// The settings of OpenSSL here allow what those of a distribution usually refuse: the version of TLS is libcurl's to refuse.
    @Test func acceptsNoTLSBeforeVersion12() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let settings = """
                openssl_conf = first
                [first]
                ssl_conf = second
                [second]
                system_default = third
                [third]
                MinProtocol = TLSv1
                CipherString = DEFAULT@SECLEVEL=0
                """
            try settings.write(toFile: folder.file("openssl.cnf"), atomically: false, encoding: .utf8)
            setenv("OPENSSL_CONF", folder.file("openssl.cnf"), 1)
            let certificate = try TestCertificate(in: folder)
            for (version, isAccepted) in [("-tls1_1", false), ("-tls1_2", true)] {
                let server = try TestProcess(
                    "/usr/bin/env",
                    [
                        "openssl", "s_server", "-www", version, "-accept", "127.0.0.1:0", "-cert",
                        certificate.certificateFile, "-key", certificate.keyFile,
                    ])
                let printed = try await server.waitForOutput("ACCEPT 127.0.0.1:")
                let line = try await printed.hasSuffix("\n") ? printed : printed + server.waitForOutput("\n")
                let port = try #require(line.firstMatch(of: #/ACCEPT 127.0.0.1:(\d+)/#)?.output.1)
                // Another program of the same TLS library is served in either version.
                let client = try await TestProcess(
                    "/bin/sh", ["-c", "openssl s_client \(version) -connect 127.0.0.1:\(port) </dev/null"]
                ).finish()
                #expect(client.status == 0, "\(version): \(client.errors)")
                let engine = CurlEngine(idle: .seconds(600))
                let response = try? await engine.send(
                    CurlRequest(url: "https://127.0.0.1:\(port)/", caFile: certificate.certificateFile))
                await engine.close()
                #expect((response?.status == 200) == isAccepted, "\(version)")
                try await server.killHard()
            }
            withExtendedLifetime(folder) {}
        }
    }
}
