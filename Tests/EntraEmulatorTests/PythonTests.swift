internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// Microsoft's Python libraries sign in at the emulator, which shows that it behaves like the service.
@Suite(.bounded) struct PythonTests {
    @Test func signsInWithMSAL() async throws {
        let results = try await signIn("sign_in_msal.py")
        let directory = Directory(seed: 1)
        let alice = directory.user(username: "alice@contoso.example")
        #expect(results["home_account_id"] == .string(alice.homeAccountID))
        #expect(results["interactive"] == msal("alice@contoso.example", alice.homeTenantID))
        #expect(results["refreshed"] == msal("alice@contoso.example", alice.homeTenantID))
        #expect(results["guest"] == msal("alice@contoso.example", directory.tenantID(domain: "fabrikam.example")))
        #expect(results["device"] == msal("bob@outlook.com", PersonalTenant.id))
        #expect(
            results["cached"] == [
                "error": .null, "username": .null, "tenant_id": .null, "token_source": "cache",
                "has_access_token": true,
            ])
    }

    @Test func signsInWithADAL() async throws {
        let results = try await signIn("sign_in_adal.py")
        let graph = "https://graph.example"
        #expect(results["interactive"] == adal("alice@contoso.example", graph))
        #expect(results["refreshed"] == adal("alice@contoso.example", graph))
        #expect(results["device"] == adal("bob@contoso.example", graph))
        #expect(results["cached"] == adal("bob@contoso.example", graph))
        #expect(results["other"] == adal("bob@contoso.example", "https://vault.example"))
    }

    private func msal(_ username: String, _ tenantID: String) -> JSON {
        [
            "error": .null, "username": .string(username), "tenant_id": .string(tenantID),
            "token_source": "identity_provider", "has_access_token": true,
        ]
    }

    private func adal(_ username: String, _ resource: String) -> JSON {
        [
            "username": .string(username), "resource": .string(resource), "expires_in": 3599,
            "tenant_id": .string(Directory(seed: 1).user(username: username).homeTenantID),
            "has_access_token": true, "has_refresh_token": true,
        ]
    }

    /// Runs a script against an emulator with TLS, which both libraries require.
    private func signIn(_ script: String) async throws -> [String: JSON] {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(in: folder)
        let tls = TLSFiles(certificateChain: certificate.certificateFile, privateKey: certificate.keyFile)
        return try await withEmulator(EmulatorOptions(tls: tls)) { emulator in
            try await Python.prepare()
            var environment = ProcessInfo.processInfo.environment
            environment["REQUESTS_CA_BUNDLE"] = certificate.certificateFile
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
            environment["NO_PROXY"] = "127.0.0.1"
            let output = try await Python.run(
                "Tests/EntraEmulatorTests/python/\(script)", [emulator.url], environment: environment)
            return try JSONDecoder().decode([String: JSON].self, from: Data(output.utf8))
        }
    }
}
