internal import ADALCompat
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// ADAL with the AD FS of an organisation.
@Suite(.bounded) struct ADALWithADFSTests {
    private static let farm = "https://fs.contoso.com/adfs"
    private static let api = "https://api.contoso.com"
    private static let alice = "alice@contoso.com"

    private static func settings(
        _ level: EmulatedADFS.Level = .windows2016, _ registration: EmulatedADFS.Registration = .onPremises
    ) -> EmulatorSettings {
        var settings = EmulatorSettings()
        settings.adfs.level = level
        settings.adfs.registration = registration
        settings.adfs.hosts = ["contoso.com": "fs.contoso.com"]
        return settings
    }

    @Test func signsInThenAnswersFromTheCacheThenRenews() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let context = try f.adal(Self.farm)
            let first = try await context.acquire(Self.api, Self.alice)
            #expect(first.status == AD_SUCCEEDED)
            #expect(first.authority == Self.farm)
            #expect(first.tokenCacheItem?.userInformation?.userId == Self.alice)
            let second = try await context.silent(Self.api, Self.alice)
            #expect(second.accessToken == first.accessToken)
            let third = try await context.silent(Self.api, Self.alice, force: true)
            #expect(third.status == AD_SUCCEEDED)
            #expect(third.accessToken != first.accessToken)
            #expect(f.redeemers == ["fs.contoso.com"])
            #expect(f.signIns == 1)
        }
    }

    @Test func renewsForEveryResourceAtADFS2016() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let context = try f.adal(Self.farm)
            #expect(try await context.acquire(Self.api, Self.alice).status == AD_SUCCEEDED)
            #expect(try await context.silent("https://other.contoso.com", Self.alice).status == AD_SUCCEEDED)
            #expect(f.signIns == 1)
        }
    }

    /// Apps signed out by removing the items of their authority.
    @Test func signsOutAUserWhoseItemsOfTheFarmAreRemoved() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            let context = try f.adal(Self.farm)
            #expect(try await context.acquire(Self.api, Self.alice).status == AD_SUCCEEDED)
            let cache = ADKeychainTokenCache()
            cache.agent = f.agent
            try await offPool {
                for item in try #require(cache.allItems(nil)) where item.authority == Self.farm {
                    #expect(cache.remove(item, error: nil))
                }
            }
            let result = try await context.silent(Self.api, Self.alice)
            #expect(result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: ADAcquireTokenTests testCachedWithNoIdtoken
    @Test func returnsAnItemWithoutAUserForAnyUser() async throws {
        try await AgentFixture.online(settings: Self.settings(.windows2012R2)) { f in
            let context = try f.adal(Self.farm)
            let first = try await context.acquire(Self.api, Self.alice)
            #expect(first.status == AD_SUCCEEDED)
            #expect(first.tokenCacheItem?.userInformation == nil)
            for userID in [nil, Self.alice, "bob@contoso.com"] {
                context.validateAuthority = userID != nil
                let result = try await context.silent(Self.api, userID)
                #expect(result.accessToken == first.accessToken)
                #expect(result.authority == Self.farm)
            }
            #expect(f.redemptions == 0)
        }
    }

    // Mirrors: ADAcquireTokenTests testCachedWithNilUserId_whenExpiredAccessToken_shouldRefreshUsingRT
    @Test func renewsAnItemWithoutAUserAndKeepsItsRefreshToken() async throws {
        try await AgentFixture.online(settings: Self.settings(.windows2012R2)) { f in
            f.emulator.control.settings.rotation = .none
            let context = try f.adal(Self.farm, validates: false)
            let first = try await context.acquire(Self.api, Self.alice)
            f.clock.advance(by: 10_000)
            let second = try await context.silent(Self.api)
            #expect(second.status == AD_SUCCEEDED)
            #expect(second.accessToken != first.accessToken)
            #expect(second.tokenCacheItem?.userInformation == nil)
            f.clock.advance(by: 10_000)
            #expect(try await context.silent(Self.api).status == AD_SUCCEEDED)
            #expect(f.redeemers == ["fs.contoso.com", "fs.contoso.com"])
        }
    }

    @Test func doesNotSendARefreshTokenForOneResourceForAnother() async throws {
        try await AgentFixture.online(settings: Self.settings(.windows2012R2)) { f in
            let context = try f.adal(Self.farm)
            #expect(try await context.acquire(Self.api, Self.alice).status == AD_SUCCEEDED)
            let other = try await context.silent("https://other.contoso.com", Self.alice)
            #expect(other.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue)
            #expect(f.redemptions == 0)
        }
    }

    @Test func countsATokenWithoutAUserAsAnAccount() async throws {
        try await AgentFixture.online(settings: Self.settings(.windows2012R2)) { f in
            let context = try f.adal(Self.farm, validates: false)
            #expect(try await context.acquire(Self.api, Self.alice).status == AD_SUCCEEDED)
            f.emulator.control.settings.adfs.level = .windows2016
            let bob = try await f.adal(Self.farm, validates: false).acquire(Self.api, "bob@contoso.com")
            // ADAL returns the item without a user for Bob, so that he is not asked to sign in.
            #expect(bob.tokenCacheItem?.userInformation == nil)
            #expect(f.signIns == 1)
            let parameters = try f.parameters(at: Self.farm, resource: Self.api, validates: false)
            try await f.signIn("bob@contoso.com", parameters)
            let nobody = try await context.silent(Self.api)
            #expect(nobody.error?.code == ADErrorCode.ERROR_CACHE_MULTIPLE_USERS.rawValue)
            #expect(try await context.silent(Self.api, "bob@contoso.com").tokenCacheItem?.userInformation != nil)
        }
    }

    @Test(arguments: [nil, "alice", "alice@contoso@com", "@contoso.com", "alice@"])
    func requiresAUserPrincipalNameToValidateADFS(userID: String?) async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            for result in [
                try await f.adal(Self.farm).silent(Self.api, userID),
                try await f.adal(Self.farm).acquire(Self.api, userID),
            ] {
                #expect(result.error?.domain == ADAuthenticationErrorDomain)
                #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
            }
            #expect(f.internet?.hosts.isEmpty == true)
        }
    }

    @Test(arguments: [
        (EmulatedADFS.Registration.onPremises, ["enterpriseregistration.contoso.com"]),
        (.cloud, ["enterpriseregistration.contoso.com", "enterpriseregistration.windows.net"]),
    ]) func validatesADFSByTheDomainOfTheUser(
        registration: EmulatedADFS.Registration, asked: [String]
    ) async throws {
        try await AgentFixture.online(settings: Self.settings(.windows2016, registration)) { f in
            let context = try f.adal(Self.farm)
            let first = try await context.acquire(Self.api, Self.alice)
            #expect(first.status == AD_SUCCEEDED)
            let requests = f.emulator.control.requests
            #expect(requests.filter { $0.counter == .enrollment }.map(\.environment) == asked)
            let fingers = requests.filter { $0.counter == .webFinger }
            #expect(fingers.map(\.environment) == ["fs.contoso.com"])
            #expect(fingers.first?.parameters["resource"] == Self.farm)
            // The authority is validated once.
            let second = try await context.silent(Self.api, Self.alice, force: true)
            #expect(second.status == AD_SUCCEEDED)
            #expect(f.emulator.control.counts[.webFinger] == 1)
        }
    }

    /// A request for a code has no field for the user, by whose domain the AD FS is validated.
    @Test func validatesADFSByTheDomainOfTheUserOfADeviceCode() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            f.timers.skipDelays(upTo: 5)
            f.emulator.control.settings.deviceCodeApprovedAtPoll = 1
            f.emulator.control.addUser(Self.alice)
            let context = try f.adal(Self.farm)
            context.presenter = SignInPresenter(method: .deviceCode, showDeviceCode: { _ in })
            let result = try await context.acquire(Self.api, Self.alice)
            #expect(result.status == AD_SUCCEEDED, "\(result.error.map { "\($0)" } ?? "")")
            #expect(f.emulator.control.counts[.webFinger] == 1)
        }
    }

    @Test func refusesTheADFSOfAnotherDomain() async throws {
        try await AgentFixture.online(settings: Self.settings()) { f in
            for farm in ["https://fs.fabrikam.example/adfs", "https://fs2.contoso.com/adfs"] {
                let result = try await f.adal(farm).acquire(Self.api, Self.alice)
                #expect(result.error?.domain == ADAuthenticationErrorDomain)
                #expect(result.error?.code == ADErrorCode.ERROR_DEVELOPER_AUTHORITY_VALIDATION.rawValue)
            }
            let unknown = try await f.adal(Self.farm).acquire(Self.api, "alice@fabrikam.example")
            #expect(unknown.error?.code == ADErrorCode.ERROR_DEVELOPER_AUTHORITY_VALIDATION.rawValue)
            #expect(f.signIns == 0)
        }
    }

    @Test func doesNotValidateAnAuthorityThatTheAppTrusts() async throws {
        try await AgentFixture.online { f in
            let context = try f.adal(Self.farm, validates: false)
            #expect(try await context.acquire(Self.api, Self.alice).status == AD_SUCCEEDED)
            #expect(f.emulator.control.counts[.enrollment] == 0)
            #expect(Set(f.internet?.hosts ?? []) == ["fs.contoso.com"])
        }
    }
}
