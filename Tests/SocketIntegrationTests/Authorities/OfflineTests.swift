internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// A valid cached token needs no network, also after a restart of the agent.
@Suite(.bounded) struct OfflineTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var authority: String
        var kind: Authority.Kind?
        var resource: String?
        var validates = true
        var testDescription: String { authority }
    }

    static let rows = [
        Row(authority: "https://login.microsoftonline.com/common"),
        Row(authority: "https://login.microsoftonline.com/common", resource: "https://graph.microsoft.com"),
        Row(authority: "https://login.microsoftonline.us/contoso.com"),
        Row(authority: "https://login.contoso.example/common"),
        Row(authority: "https://login.fabrikam.example/common", validates: false),
        Row(authority: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_signin", validates: false),
        Row(authority: "https://contoso.ciamlogin.com"),
        Row(authority: "https://fs.contoso.com/adfs", resource: "https://api.contoso.com"),
        Row(authority: "https://id.contoso.example/openid/main", kind: .openID),
    ]

    @Test(arguments: rows) func answersACachedTokenWithoutTheNetwork(row: Row) async throws {
        var settings = EmulatorSettings()
        settings.clouds = [EmulatedCloud(hosts: ["login.contoso.example"])]
        settings.adfs.hosts = ["contoso.com": "fs.contoso.com"]
        try await AgentFixture.online(settings: settings) { f in
            let parameters = try f.parameters(
                at: row.authority, kind: row.kind, resource: row.resource, validates: row.validates)
            let first = try await f.signIn("alice@contoso.com", parameters)
            await f.goOffline()
            try await f.restarted { f in
                let second = try await f.silent(parameters, first.account.reference)
                #expect(second.isFromCache)
                #expect(second.accessToken == first.accessToken)
                #expect(second.authority == first.authority)
                let error = await #expect(throws: TokenError.self) {
                    try await f.silent(parameters, first.account.reference, force: true)
                }
                #expect(error?.code == .networkUnavailable)
            }
        }
    }
}
