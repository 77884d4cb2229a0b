internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

/// Registered redirect URIs, and the error page for others.
@Suite(.bounded) struct RegisteredRedirectTests {
    @Test(
        arguments: [
            ("http://localhost", "http://localhost:49152", true), ("http://localhost", "http://localhost:1/", true),
            ("http://localhost:8400/cb", "http://localhost:9/cb", true),
            ("http://127.0.0.1", "http://127.0.0.1:5", true),
            ("http://localhost", "http://127.0.0.1:5", false), ("http://localhost", "http://localhost:5/cb", false),
            ("http://localhost", "https://localhost:5", false), ("myapp://auth", "myapp://auth", true),
            ("myapp://auth", "myapp://auth/", false), ("https://contoso.com:1/", "https://contoso.com:2/", false),
        ])
    func comparesAsEntraDoes(registered: String, used: String, isRegistered: Bool) {
        #expect(RegisteredRedirect(used).matches(registered) == isRegistered)
    }

    @Test func showsAnErrorPageInsteadOfRedirecting() async throws {
        try await withEmulator { emulator in
            let app = App(emulator: emulator)
            emulator.control.settings.redirectURIs = [app.clientID: ["msauth.com.contoso.notes://auth"]]
            let page = try await app.authorize()
            #expect(page.status == 400)
            #expect(page.headers["location"] == nil)
            #expect(page.body.contains("AADSTS50011"))
            #expect(emulator.control.counts.signIns == 0)
            emulator.control.settings.redirectURIs[app.clientID]?.append(app.redirectURI)
            let reply = try await app.authorize()
            #expect(reply.redirect["code"] != nil)
        }
    }

    /// RFC 6749 section 3.1.2.
    @Test(arguments: [
        "/callback", "app.example/callback", "//app.example", "http://localhost/#part", "1a://x", ":", " http://a",
    ])
    func refusesWhatIsNoAbsoluteURI(redirectURI: String) async throws {
        try await withEmulator { emulator in
            let page = try await App(emulator: emulator).authorize(["redirect_uri": redirectURI])
            #expect(page.status == 400)
            #expect(page.headers["location"] == nil)
            #expect(page.body.contains("AADSTS90102"))
            #expect(emulator.control.counts.signIns == 0)
        }
    }

    @Test(arguments: [
        "http://localhost:1", "msauth.com.contoso.notes://auth", "urn:ietf:wg:oauth:2.0:oob", "a+b-c.1:/x",
    ])
    func acceptsAnyAbsoluteURI(redirectURI: String) async throws {
        try await withEmulator { emulator in
            let reply = try await App(emulator: emulator).authorize(["redirect_uri": redirectURI])
            #expect(reply.headers["location"]?.hasPrefix("\(redirectURI)?code=") == true)
        }
    }

    @Test func doesNotCheckAppsWithoutRegisteredRedirectURIs() async throws {
        try await withEmulator { emulator in
            emulator.control.settings.redirectURIs = ["another": []]
            let reply = try await App(emulator: emulator).authorize()
            #expect(reply.redirect["code"] != nil)
        }
    }
}
