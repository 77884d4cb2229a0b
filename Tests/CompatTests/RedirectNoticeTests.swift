internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing

@testable internal import ADALCompat
@testable internal import MSALCompat

/// Apps with a redirect URI of the original library, which cannot be used on this system.
@Suite(.bounded) struct RedirectNoticeTests {
    private static let own = "msauth.com.contoso.notes://auth"
    private static let alice = "alice@contoso.com"

    /// An emulator where the redirect URI of the app is registered, and that of the agent is not.
    private static var settings: EmulatorSettings {
        var settings = EmulatorSettings()
        settings.redirectURIs = ["app-1": [own]]
        return settings
    }

    /// Records the notices that a presenter shows.
    private final class Notices: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }

        var presenter: SignInPresenter {
            SignInPresenter(
                method: .browser, browserCommands: ["curl -sSL -o /dev/null %s"],
                showNotice: { text in self.texts.withLock { $0.append(text) } })
        }
    }

    @Test func tellsAnMSALAppAtOnceAndInTheError() async throws {
        let notices = Notices()
        try await AgentFixture.with(settings: Self.settings) { f in
            let app = try msal(f, Self.own, notices)
            let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
            let call = Task { try await app.acquireToken(with: parameters) }
            await f.emulator.control.waitForCount(.authorize, atLeast: 1)
            try await f.timers.advance(by: 600)
            let error = await #expect(throws: NSError.self) { try await call.value }
            #expect(error?.domain == MSALErrorDomain)
            #expect(error?.internalCode == -42008)
            let text = try #require(error?.userInfo[MSALErrorDescriptionKey] as? String)
            for part in ["http://localhost:", Self.own, "AADSTS50011", "register http://localhost"] {
                #expect(text.contains(part), "\(text)")
            }
            #expect(notices.all.count == 1)
            #expect(notices.all.first?.contains(Self.own) == true)
        }
    }

    @Test func tellsAnADALAppAtOnceAndInTheError() async throws {
        let notices = Notices()
        try await AgentFixture.with(settings: Self.settings) { f in
            let context = try f.adal()
            context.presenter = notices.presenter
            let oob = try url("urn:ietf:wg:oauth:2.0:oob")
            let call = Task {
                let result = await context.acquireToken(
                    withResource: "https://graph.microsoft.com", clientId: "app-1", redirectUri: oob)
                return (result.error?.code, result.error?.errorDetails)
            }
            await f.emulator.control.waitForCount(.authorize, atLeast: 1)
            try await f.timers.advance(by: 600)
            let (code, details) = await call.value
            #expect(code == ADErrorCode.ERROR_UNEXPECTED.rawValue)
            for part in ["http://localhost:", "urn:ietf:wg:oauth:2.0:oob", "register http://localhost"] {
                #expect(details?.contains(part) == true, "\(details ?? "")")
            }
            #expect(notices.all.count == 1)
        }
    }

    @Test(arguments: ["http://localhost", nil])
    func tellsNothingIfTheRedirectURIIsUsed(redirectURI: String?) async throws {
        let notices = Notices()
        try await AgentFixture.with { f in
            let app = try msal(f, redirectURI, notices)
            let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
            parameters.loginHint = Self.alice
            try await app.acquireToken(with: parameters)
            #expect(notices.all.isEmpty)
        }
    }

    private func msal(
        _ f: AgentFixture, _ redirectURI: String?, _ notices: Notices
    ) throws -> MSALPublicClientApplication {
        let app = try f.msal { $0.redirectUri = redirectURI }
        app.session?.presenter = notices.presenter
        return app
    }
}
