internal import AgentClient
internal import AgentTestSupport
internal import CompatSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import MSALCompat

/// MSAL apps that use the fixture's agent.
extension AgentFixture {
    /// An app whose sign-ins need no user.
    func msalApp(
        _ clientID: String = "app-1", realm: String = "common", host: String? = nil,
        _ change: (MSALPublicClientApplicationConfig) -> Void = { _ in }
    ) throws -> MSALPublicClientApplication {
        let authority = try msalAuthority(realm, host: host)
        let config = MSALPublicClientApplicationConfig(
            clientId: clientID, redirectUri: "http://localhost", authority: authority)
        config.knownAuthorities = [authority]
        change(config)
        // Each app represents a process, and so has its own connection and `CurrentSignIn`.
        let app = try MSALPublicClientApplication(
            configuration: config, client: AgentClient(socketPath: socketPath),
            presenter: SignInPresenter(
                method: .browser, browserCommands: [internet?.browser ?? "curl -sSL -o /dev/null %s"]))
        app.session?.currentSignIn = CurrentSignIn()
        return app
    }

    /// An authority of the emulator, or of a host of the network in which every host is the emulator.
    func msalAuthority(_ realm: String, host: String? = nil) throws -> MSALAuthority {
        let root = host.map { "https://\($0)" } ?? emulator.url
        return try MSALAADAuthority(url: try #require(URL(string: "\(root)/\(realm)")))
    }

    /// The requests that redeemed a refresh token, in order.
    var redeemed: [RecordedRequest] { emulator.control.requests.filter { $0.counter == .refreshToken } }

    /// Lets every access token and every throttling record expire.
    func expireTokens() { clock.advance(by: 4000) }
}

extension EmulatorSettings {
    /// Settings with the changes of `change`.
    static func with(_ change: (inout EmulatorSettings) -> Void) -> EmulatorSettings {
        var settings = EmulatorSettings()
        change(&settings)
        return settings
    }

    /// `family-1` and `family-2` share refresh tokens.
    static func family(_ change: (inout EmulatorSettings) -> Void = { _ in }) -> EmulatorSettings {
        with {
            $0.familyApps = ["family-1": "1", "family-2": "1"]
            change(&$0)
        }
    }

    /// These apps share refresh tokens.
    static func family(of clientIDs: String...) -> EmulatorSettings {
        with { for clientID in clientIDs { $0.familyApps[clientID] = "1" } }
    }
}

extension AgentFixture {
    /// The requests for a sign-in page, in order.
    var authorized: [RecordedRequest] { emulator.control.requests.filter { $0.counter == .authorize } }
}
