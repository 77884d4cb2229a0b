internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The items of ADAL's cache, and their removal.
@Suite(.bounded) struct ADALCacheItemsTests {
    private static let (alice, bob) = (ADALApp.alice, ADALApp.bob)

    // Mirrors: 10 ADAcquireTokenTests testSilentExpiredATRefreshMRRTNetwork, for what is in the cache afterwards
    @Test func showsAnAccessTokenAndTheRefreshTokenForAllResourcesApart() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            #expect(try await app.items().isEmpty)
            let signedIn = try #require(try await app.signIn().tokenCacheItem)
            let items = try await app.items()
            #expect(items.count == 2)
            let (token, refresh) = (try #require(items.first), try #require(items.last))
            #expect(token == signedIn)
            #expect(!token.isMultiResourceRefreshToken())
            #expect(refresh.isMultiResourceRefreshToken())
            #expect(refresh.refreshToken == nil)
            #expect(refresh.resource == nil)
            #expect(refresh.accessToken == nil)
            #expect(refresh.clientId == "app-1")
            #expect(refresh.expiresOn == nil)
            #expect(refresh.userInformation == token.userInformation)
            #expect(token.userInformation?.homeAccountId?.isEmpty == false)
        }
    }

    // Mirrors: 2 ADAcquireTokenTests testCachedWithNilUserId_whenExpiredAccessToken_shouldRefreshUsingRT, for the one item
    @Test func showsATokenForOneResourceAsOneItem() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["id_token": nil, "resource": nil]
            let app = ADALApp(f, tenant: "adfs")
            try await app.signIn()
            f.letTokensExpire()
            #expect(try await app.silent().status == AD_SUCCEEDED)
            let items = try await app.items()
            #expect(items.count == 1)
            #expect(items.first?.isEmptyUser() == true)
            #expect(items.first?.isMultiResourceRefreshToken() == false)
            #expect(items.first?.authority == app.authority)
        }
    }

    // Mirrors: 19 ADAcquireTokenTests testAcquireRefreshFamilyTokenNetwork, for what is in the cache afterwards
    @Test func showsTheRefreshTokenOfAFamilyAsAnAppOfItsOwn() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.familyApps["app-1"] = "1"
            let app = ADALApp(f)
            try await app.signIn()
            let family = try #require(try await app.items().last)
            #expect(family.clientId == "foci-1")
            #expect(family.familyId == "1")
            #expect(family.isMultiResourceRefreshToken())
        }
    }

    // Mirrors: 41 ADKeychainTokenCacheTests testAddTwice, testAddTwoItemsWithSameKey
    @Test func replacesAnItemByTheNextOfItsKey() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let second = try await app.signIn()
            #expect(try await app.items().map(\.accessToken) == [second.accessToken, nil])
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveItem
    @Test func removesOneItem() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let other = ADALApp(f, resource: "https://other")
            try await other.signIn(Self.bob)
            try await remove(try #require(try await app.items().first), app)
            #expect(try await app.items().compactMap(\.resource) == ["https://other"])
            // A removed access token can be acquired again by the refresh token.
            #expect(try await app.silent(Self.alice).status == AD_SUCCEEDED)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveItem, until nothing is left of a person: how apps signed out
    @Test(arguments: [[String: JSON](), ["resource": nil]])
    func signsOutAUserWhoseItemsAreRemoved(reply: [String: JSON]) async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = reply
            let app = ADALApp(f)
            for user in [Self.alice, Self.bob] { try await app.signIn(user) }
            for item in try await app.items() where item.userInformation?.userId == Self.alice {
                try await remove(item, app)
            }
            expectInputNeeded(try await app.silent(Self.alice))
            #expect(f.redemptions == 0)
            #expect(try await app.silent().tokenCacheItem?.userInformation?.userId == Self.bob)
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveItem, for what is not there
    @Test func succeedsInRemovingAMissingItem() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            let item = ADTokenCacheItem()
            (item.authority, item.clientId) = (app.authority, "app-1")
            try await remove(item, app)
            item.authority = "nonsense"
            let cache = app.cache
            let code = try await offPool {
                var error: ADAuthenticationError?
                return cache.remove(item, error: &error) ? nil : error?.code
            }
            #expect(code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveAllForClientId
    @Test func removesTheItemsOfAnApp() async throws {
        try await AgentFixture.with { f in
            let (one, two) = (ADALApp(f, "app-1"), ADALApp(f, "app-2"))
            for user in [Self.alice, Self.bob] { try await one.signIn(user) }
            try await two.signIn()
            f.emulator.control.settings.tokenReply = ["id_token": nil, "resource": nil]
            try await ADALApp(f, "app-1", tenant: "adfs").signIn()
            let cache = one.cache
            #expect(try await offPool { cache.removeAll(forClientId: " APP-1 ", error: nil) })
            #expect(try await Set(one.items().map(\.clientId)) == ["app-2"])
            expectInputNeeded(try await one.silent(Self.alice))
            #expect(try await two.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveAllForUserIdClientId
    @Test func removesTheItemsOfAnAppAndAUser() async throws {
        try await AgentFixture.with { f in
            let (one, two) = (ADALApp(f, "app-1"), ADALApp(f, "app-2"))
            for user in [Self.alice, Self.bob] { try await one.signIn(user) }
            try await two.signIn()
            let cache = one.cache
            #expect(
                try await offPool { cache.removeAll(forUserId: "Alice@Contoso.com", clientId: "app-1", error: nil) })
            expectInputNeeded(try await one.silent(Self.alice))
            #expect(try await one.silent(Self.bob).status == AD_SUCCEEDED)
            #expect(try await two.silent(Self.alice).status == AD_SUCCEEDED)
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testWipeAllItemsForUserId
    @Test func removesEverythingOfAUser() async throws {
        try await AgentFixture.with { f in
            let (one, two) = (ADALApp(f, "app-1"), ADALApp(f, "app-2"))
            try await one.signIn()
            try await two.signIn()
            try await two.signIn(Self.bob)
            let cache = one.cache
            #expect(try await offPool { cache.wipeAllItems(forUserId: Self.alice, error: nil) })
            #expect(try await Set(one.items().map { $0.userInformation?.userId }) == [Self.bob])
        }
    }

    // Mirrors: 42 ADKeychainTokenCacheTests testRemoveAllForClientId, testWipeAllItemsForUserId, with blanks
    @Test func refusesBlanks() async throws {
        try await AgentFixture.with { f in
            let app = ADALApp(f)
            try await app.signIn()
            let cache = app.cache
            let codes = try await offPool {
                var errors: [ADAuthenticationError?] = [nil, nil, nil, nil]
                let done = [
                    cache.removeAll(forClientId: " ", error: &errors[0]),
                    cache.removeAll(forUserId: "", clientId: "app-1", error: &errors[1]),
                    cache.removeAll(forUserId: Self.alice, clientId: "", error: &errors[2]),
                    cache.wipeAllItems(forUserId: "\n", error: &errors[3]),
                ]
                return done.contains(true) ? [] : errors.map { $0?.code }
            }
            #expect(codes == [100, 100, 100, 100])
            #expect(try await app.items().count == 2)
        }
    }

    // Mirrors: 45 ADTokenCacheItemTests testIsExpired
    @Test(arguments: [(TimeInterval(0), true), (30, true), (3600, false)])
    func countsATokenAsExpiredAheadOfTime(life: TimeInterval, isExpired: Bool) {
        let item = ADTokenCacheItem()
        #expect(!item.isExpired())
        item.expiresOn = Date(timeIntervalSinceNow: life)
        #expect(item.isExpired() == isExpired)
    }

    private func remove(_ item: ADTokenCacheItem, _ app: ADALApp) async throws {
        let cache = app.cache
        #expect(try await offPool { cache.remove(item, error: nil) })
    }
}
