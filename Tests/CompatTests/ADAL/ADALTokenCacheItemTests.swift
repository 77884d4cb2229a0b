internal import ADALCompat
internal import Foundation
internal import TestSupport
internal import Testing

@Suite(.bounded) struct ADALTokenCacheItemTests {
    private func item() throws -> ADTokenCacheItem {
        let item = ADTokenCacheItem()
        item.resource = "https://graph.microsoft.com"
        item.authority = "https://login.windows.net/contoso.com"
        item.clientId = "app-1"
        item.accessToken = "secret-access-token"
        item.accessTokenType = "Bearer"
        item.refreshToken = "secret-refresh-token"
        item.sessionKey = Data([1, 2, 3])
        item.expiresOn = Date(timeIntervalSince1970: 1_700_000_000)
        item.userInformation = ADUserInformation(
            idToken: try ADALIDToken.make(["upn": "alice@contoso.com"]), homeAccountID: "uid.utid")
        return item
    }

    @Test(arguments: [(TimeInterval?.some(-1), true), (30, true), (3600, false), (nil, false)])
    func expiresABufferEarly(seconds: TimeInterval?, expected: Bool) {
        let item = ADTokenCacheItem()
        item.expiresOn = seconds.map { Date(timeIntervalSinceNow: $0) }
        #expect(item.isExpired() == expected)
    }

    @Test func recognizesRefreshTokensAndMissingUsers() throws {
        let item = try item()
        #expect(!item.isEmptyUser())
        #expect(!item.isMultiResourceRefreshToken())
        (item.resource, item.accessToken, item.userInformation) = (" ", nil, nil)
        #expect(item.isEmptyUser())
        #expect(item.isMultiResourceRefreshToken())
        item.refreshToken = nil
        #expect(!item.isMultiResourceRefreshToken())
    }

    @Test func decodesItsArchiveAndCopiesItself() throws {
        let item = try item()
        let archive = try NSKeyedArchiver.archivedData(withRootObject: item, requiringSecureCoding: true)
        let unarchived = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: ADTokenCacheItem.self, from: archive))
        let copy = try #require(item.copy() as? ADTokenCacheItem)
        #expect(unarchived == item)
        #expect(copy == item)
        copy.familyId = "1"
        #expect(copy != item)
    }

    @Test func readsAnArchiveOfNothing() throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: ADTokenCacheItem(), requiringSecureCoding: true)
        let item = try NSKeyedUnarchiver.unarchivedObject(ofClass: ADTokenCacheItem.self, from: archive)
        #expect(item == ADTokenCacheItem())
    }

    /// The archive was made by ADAL 1.x on an Apple system.
    @Test func readsAnArchiveOfADALByTheNamesOfItsClasses() throws {
        let folder = PackageFolder.root.appending(path: "Tests/CacheFormatsTests/Fixtures/adal-archive")
        let archive = try Data(contentsOf: folder.appending(path: "adal_keychain_item_ios.bplist"))
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
        unarchiver.requiresSecureCoding = true
        unarchiver.setClass(ADTokenCacheItem.self, forClassName: "ADTokenCacheStoreItem")
        unarchiver.setClass(ADUserInformation.self, forClassName: "ADUserInformation")
        let item = try #require(
            unarchiver.decodeObject(of: ADTokenCacheItem.self, forKey: NSKeyedArchiveRootObjectKey))
        #expect(item.authority == "https://login.microsoftonline.com/common")
        #expect(item.resource == "<resource>")
        #expect(item.accessToken == "<access token>")
        #expect(item.refreshToken == "<refresh token>")
        #expect(item.expiresOn == Date(timeIntervalSinceReferenceDate: 1_000_000))
        #expect(item.userInformation?.userId == "myfakeuser@contoso.com")
    }

    @Test func comparesKeysWithoutRegardToCase() throws {
        let (one, other) = (try item(), try item())
        other.clientId = "APP-1"
        other.resource = "HTTPS://graph.microsoft.com"
        other.authority = "https://login.windows.net/Contoso.com/"
        let key = try #require(one.extractKey(nil))
        #expect(key == other.extractKey(nil))
        other.resource = "https://graph.microsoft.com/"
        #expect(key != other.extractKey(nil))
    }

    @Test func hasNoKeyWithoutAnAppOrAnAuthority() throws {
        let item = try item()
        item.clientId = " "
        var error: ADAuthenticationError?
        #expect(item.extractKey(&error) == nil)
        #expect(error?.code == ADErrorCode.ERROR_DEVELOPER_INVALID_ARGUMENT.rawValue)
    }

    // Mirrors: ADTokenCacheItemTests testIsEqual_when…IsNotEqual_shouldReturnFalse (10)
    @Test(arguments: 0..<10) func differsIfOneValueDoes(index: Int) throws {
        let (one, other) = (try item(), try item())
        #expect(one == other)
        #expect(one.hash == other.hash)
        let changes: [(ADTokenCacheItem) -> Void] = [
            { $0.resource = nil }, { $0.authority = "https://login.windows.net/other" }, { $0.clientId = "app-2" },
            { $0.familyId = "1" }, { $0.accessToken = "another" }, { $0.accessTokenType = nil },
            { $0.refreshToken = "another" }, { $0.sessionKey = Data([3]) }, { $0.expiresOn = nil },
            { $0.userInformation = nil },
        ]
        changes[index](other)
        #expect(one != other)
        changes[index](one)
        #expect(one == other)
    }

    // Mirrors: ADTokenCacheItemTests testCopyWithZone_whenAllPropertiesAreSet_shouldCopyAllOfThem: a copy is one's own
    @Test func doesNotShareItsValuesWithACopy() throws {
        let item = try item()
        let copy = try #require(item.copy() as? ADTokenCacheItem)
        copy.accessToken = nil
        copy.userInformation = nil
        #expect(item.accessToken == "secret-access-token")
        #expect(!item.isEmptyUser())
    }

    @Test func doesNotPrintTokens() throws {
        #expect(!"\(try item())".contains("secret"))
        #expect(!String(reflecting: try item()).contains("secret"))
    }
}
