internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// Apps whose users may belong to another cloud than the authority.
@Suite(.bounded) struct MultipleCloudsTests {
    private static let publicCloud = "https://login.microsoftonline.com/common"
    private static let government = "login.microsoftonline.us"
    private static let anna = "anna@fabrikam.example"

    private static func settings(_ hosts: [String] = [government]) -> EmulatorSettings {
        var settings = EmulatorSettings()
        settings.clouds = [EmulatedCloud(hosts: hosts, domains: ["fabrikam.example"])]
        return settings
    }

    @Test func redirectsAnAppWithSeveralCloudsToTheUsersCloud() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let authority = try MSALAADAuthority(url: url(Self.publicCloud))
            let app = try f.msal(authority, isKnown: false) { $0.multipleCloudsSupported = true }
            let first = try await app.signIn(Self.anna)
            #expect(first.authority.url.host == Self.government)
            #expect(first.account.environment == Self.government)
            let codes = f.emulator.control.requests.filter { $0.counter == .authorizationCode }
            #expect(codes.map(\.environment) == [Self.government])
            #expect(try await app.silent(first.account).accessToken == first.accessToken)
            #expect(try await app.silent(first.account, force: true).authority.url.host == Self.government)
            #expect(f.redeemers == [Self.government])
        }
    }

    @Test func doesNotRedirectOtherApps() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let authority = try MSALAADAuthority(url: url(Self.publicCloud))
            let several = try f.msal(authority, isKnown: false) { $0.multipleCloudsSupported = true }
            let account = try await several.signIn(Self.anna).account
            let one = try f.msal(authority, isKnown: false)
            let error = await appError { try await one.silent(account) }
            #expect(error?.code == MSALError.interactionRequired.rawValue)
            #expect(f.redemptions == 0)
            let there = try MSALAADAuthority(url: url("https://\(Self.government)/common"))
            #expect(try await one.silent(account, authority: there).authority.url.host == Self.government)
        }
    }

    @Test func keepsAUserOfTheAuthoritysCloud() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let authority = try MSALAADAuthority(url: url(Self.publicCloud))
            let app = try f.msal(authority, isKnown: false) { $0.multipleCloudsSupported = true }
            let first = try await app.signIn("alice@contoso.com")
            #expect(first.authority.url.host == "login.microsoftonline.com")
            #expect(try await app.silent(first.account, force: true).account == first.account)
            #expect(Set(f.internet?.hosts ?? []) == ["login.microsoftonline.com"])
        }
    }

    @Test func sendsNothingToAnUnknownCloud() async throws {
        try await AgentFixture.online(settings: Self.settings(["login.fabrikam.example"])) { f in
            let authority = try MSALAADAuthority(url: url(Self.publicCloud))
            let app = try f.msal(authority, isKnown: false) { $0.multipleCloudsSupported = true }
            #expect(await appError { try await app.signIn(Self.anna) } != nil)
            #expect(Set(f.internet?.hosts ?? []) == ["login.microsoftonline.com"])
        }
    }

    @Test func followsTheCloudThatTheTokenEndpointNames() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            f.emulator.control.addUser(Self.anna)
            let parameters = try f.parameters(at: Self.publicCloud, extra: ["instance_aware": "true"])
            let begun = try await f.agent.beginDeviceCode(BeginDeviceCode(parameters: parameters))
            let result = try await f.agent.completeDeviceCode(CompleteDeviceCode(sessionID: begun.sessionID))
            #expect(result.account.environment == Self.government)
            #expect(try await f.silent(parameters, result.account.reference).isFromCache)
            _ = try await f.silent(parameters, result.account.reference, force: true)
            #expect(f.redeemers == [Self.government])
        }
    }

    @Test func reportsTheCloudInTheResultOfADAL() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let graph = "https://graph.microsoft.com"
            let first = try await f.adal(Self.publicCloud).acquire(graph, Self.anna, query: "instance_aware=true")
            #expect(first.status == AD_SUCCEEDED)
            #expect(first.authority == "https://\(Self.government)/common")
            let there = try f.adal(try #require(first.authority))
            #expect(try await there.silent(graph, Self.anna).accessToken == first.accessToken)
            #expect(try await there.silent(graph, Self.anna, force: true).status == AD_SUCCEEDED)
            #expect(f.redeemers == [Self.government])
        }
    }
}
