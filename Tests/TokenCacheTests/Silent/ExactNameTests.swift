internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// Names that are canonically equivalent and have other bytes are other names, as on the disk and for identity providers.
@Suite(.bounded) struct ExactNameTests {
    /// Their order by bytes and their order by characters differ.
    private static let letters = ["f", "e\u{301}", "\u{E9}", "z", "\u{D4E}"]

    private static func cache() throws -> CredentialCache {
        var builder = CacheBuilder()
        for number in 0..<30 {
            for letter in letters { try builder.signIn("\(letter)\(number)", builder.parameters()) }
        }
        return builder.cache
    }

    @Test func listsEveryAccountOnce() throws {
        let accounts = try Self.cache().listedAccounts()
        #expect(accounts.count == 30 * Self.letters.count)
        #expect(Set(accounts.compactMap { $0.homeAccountID.map { Array($0.text.utf8) } }).count == accounts.count)
    }

    /// With few tokens and with many, which are found differently.
    @Test(arguments: [1, 20])
    func findsNoTokenOfAnAppWithTheSameIDInOtherBytes(tokens: Int) throws {
        var builder = CacheBuilder()
        for number in 0..<tokens {
            try builder.signIn("alice", builder.parameters("app-\u{E9}", scopes: ["Scope.\(number)"]))
        }
        let account = CacheBuilder.account("alice")
        #expect(
            try builder.decide(builder.parameters("app-\u{E9}", scopes: ["Scope.0"]), account).token
                == "at-alice-Scope.0")
        #expect(
            try builder.decide(builder.parameters("app-e\u{301}", scopes: ["Scope.0"]), account).needsInteraction)
    }

    /// A letter may form one character with the hyphen behind it.
    @Test func listsEveryCredentialOnceAndFindsIt() throws {
        var cache = try Self.cache()
        let ids = try cache.listedCredentials().map { Array($0.id.utf8) }
        #expect(ids.count == 2 * 30 * Self.letters.count)
        #expect(Set(ids).count == ids.count)
        try cache.removeAllThatIsListed()
        #expect(try cache.listedCredentials().isEmpty)
    }

    /// An account that is known by its username only has it in the other form.
    @Test func signsOutOfTheAccountWithTheSameNameInOtherBytes() throws {
        var builder = CacheBuilder()
        try builder.signIn(
            "ju\u{308}rgen", builder.parameters(resource: "https://graph.microsoft.com"), hasClientInfo: false)
        let known = builder.cache.partition(.standard).accountKeys
        try #require(known.count == 1 && known[0].name != nil)
        try builder.signIn("j\u{FC}rgen", builder.parameters("app-2"))
        let home = try #require(HomeAccountID(uid: "oid-j\u{FC}rgen", utid: CacheBuilder.tenant))
        builder.remove(
            RemoveAccount(
                clientID: try #require(CacheBuilder.app), sharingGroup: .standard,
                account: AccountReference(homeAccountID: home), extent: .account))
        #expect(try builder.cache.listedCredentials().isEmpty)
    }
}
