internal import Foundation
internal import Subprocess
internal import SystemPackage
internal import Testing

@testable internal import EntraEmulator

/// Microsoft's own Python libraries sign in at the emulator: the judge of whether it behaves like the service.
@Suite(.timeLimit(.minutes(10))) struct PythonTests {
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

    /// Runs a script against an emulator with TLS, which both libraries insist on.
    private func signIn(_ script: String) async throws -> [String: JSON] {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificate.make(in: directory)
            return try await withEmulator(EmulatorOptions(tls: files)) { emulator in
                let python = try await Self.python()
                let output = try await Self.output(
                    of: python, [Paths.python.appending(path: script).path, emulator.url],
                    environment: [
                        "REQUESTS_CA_BUNDLE": files.certificateChain, "PYTHONDONTWRITEBYTECODE": "1",
                        "NO_PROXY": "127.0.0.1",
                    ])
                return try JSONDecoder().decode([String: JSON].self, from: Data(output.utf8))
            }
        }
    }

    /// The interpreter with the libraries; installs them at the first run.
    private static func python() async throws -> URL {
        let setUp = Paths.python.appending(path: "setup.sh")
        _ = try await output(of: setUp, [Paths.virtualEnvironment.path])
        return Paths.virtualEnvironment.appending(path: "bin/python")
    }

    private static func output(
        of program: URL, _ arguments: [String], environment: [Environment.Key: String?] = [:]
    ) async throws -> String {
        let result = try await run(
            .path(FilePath(program.path)), arguments: Arguments(arguments),
            environment: .inherit.updating(environment),
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
        guard result.terminationStatus.isSuccess else {
            throw TestFailure("\(program.lastPathComponent): \(result.standardError)")
        }
        return result.standardOutput
    }
}
