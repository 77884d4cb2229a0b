internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct AssertionTests {
    private static let saml2 =
        #"<saml:Assertion><saml:Subject><saml:NameID Format="x">ada@contoso.example</saml:NameID>"#
    private static let saml11 = "<Assertion><NameIdentifier>\n ada@contoso.example </NameIdentifier></Assertion>"

    @Test(arguments: [("saml2-bearer", saml2), ("saml1_1-bearer", saml11)])
    func issuesTokensForItsSubject(grant: String, assertion: String) async throws {
        try await withEmulator { emulator in
            var app = App(emulator: emulator)
            app.isV1 = true
            let reply = try await redeem(app, grant, base64URL(assertion.utf8))
            #expect(reply.status == 200)
            #expect(reply["resource"] == "https://graph.example")
            #expect(try await app.redeem(refreshToken: reply.text("refresh_token")).status == 200)
            #expect(emulator.control.users.map(\.username) == ["ada@contoso.example"])
            #expect(emulator.control.counts[.assertion] == 1)
        }
    }

    @Test(arguments: ["", "%%%", base64URL("<Assertion/>".utf8), base64URL("<NameID></NameID>".utf8)])
    func refusesAnAssertionWithoutASubject(assertion: String) async throws {
        try await withEmulator { emulator in
            let reply = try await redeem(App(emulator: emulator), "saml2-bearer", assertion)
            #expect(reply.status == 400)
            #expect(emulator.control.users.isEmpty)
        }
    }

    private func redeem(_ app: App, _ grant: String, _ assertion: String) async throws -> Reply {
        try await app.token([
            "grant_type": "urn:ietf:params:oauth:grant-type:\(grant)", "assertion": assertion,
            "resource": "https://graph.example",
        ])
    }
}
