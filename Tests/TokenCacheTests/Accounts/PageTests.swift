internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// The work for a page of a list, and the position at which the next page begins.
@Suite(.bounded) struct PageTests {
    /// The position of a credential fits into a message if its identifier does.
    @Test(arguments: [ValueLimits.text - 1, ValueLimits.text, ValueLimits.text + 1])
    func goesOnAfterACredentialWithALongIdentifier(length: Int) throws {
        var cache = CredentialCache()
        for number in 0..<100 {
            let padding = length - (try Self.token("alice", scope: Self.scope(number))).key.utf8.count
            let token = try Self.token("alice", scope: Self.scope(number) + String(repeating: "p", count: padding))
            #expect(token.key.utf8.count == length)
            cache.load(.accessToken(token), in: .standard)
        }
        let listed = try cache.listedCredentials()
        #expect(listed.count == 100)
        #expect(Set(listed.map(\.id)).count == 100)
        #expect(listed.allSatisfy { $0.id.utf8.count <= ValueLimits.text })
        try cache.removeAllThatIsListed()
        #expect(try cache.listedCredentials().isEmpty)
    }

    /// The account's key begins with its provider. The credential's key is too long for a message, so that its identifier is a hash.
    @Test func goesOnAfterACredentialOfTheLongestAccount() throws {
        var cache = CredentialCache()
        let host = String(repeating: "h", count: 1000) + ".example"
        for number in 0..<100 {
            let scope = Self.scope(number) + String(repeating: "p", count: 4000)
            var token = try Self.token(String(repeating: "u", count: 980), scope: scope)
            token.account.issuer = Issuer("\(host)/\(String(repeating: "Path", count: 200))")
            cache.load(.accessToken(token), in: .standard)
        }
        #expect(try cache.listedCredentials().count == 100)
    }

    /// A turn of the event loop examines a limited number of accounts, whether they have credentials or not.
    @Test func examinesALimitedNumberOfAccountsForAPage() throws {
        var cache = CredentialCache()
        for number in 0..<1000 { cache.load(.account(Self.account("user-\(1000 + number)")), in: .standard) }
        cache.load(.accessToken(try Self.token("user-1777", scope: "a")), in: .standard)
        let first = cache.credentials(ListCredentials(), localScheme: "https")
        #expect(first.credentials.isEmpty)
        #expect(first.next?.isEmpty == false)
        var (pages, listed, request) = (1, first.credentials, ListCredentials(after: first.next))
        while request.after != nil {
            let page = cache.credentials(request, localScheme: "https")
            listed += page.credentials
            pages += 1
            request.after = page.next
        }
        #expect(listed.count == 1)
        #expect(pages >= 1000 / CredentialCache.examinedAccounts)
    }

    /// Credentials of an account are listed once and in order, however many there are and whatever changes between two pages.
    @Test(arguments: [3, AccountCredentials.unsortedCredentials, 1000])
    func listsTheCredentialsOfAnAccountInOrder(count: Int) throws {
        var cache = CredentialCache()
        for user in ["alice", "bob"] {
            for number in 0..<count {
                let token = try Self.token(user, scope: Self.scope(number * 7 % 1000))
                cache.load(.accessToken(token), in: .standard)
            }
            cache.load(.refreshToken(try Self.refreshToken(user)), in: .standard)
        }
        let ids = try cache.listedCredentials().map(\.id)
        #expect(ids.count == 2 * (count + 1))
        #expect(ids == ids.sorted { $0.precedes($1) })
        // What follows is listed although the credential and then the account are gone after which the list goes on.
        let page = cache.credentials(ListCredentials(), localScheme: "https")
        if let next = page.next, let last = page.credentials.last {
            cache.apply(cache.changes(removing: RemoveCredential(id: last.id)), in: .standard)
            let rest = cache.credentials(ListCredentials(after: next), localScheme: "https")
            #expect(rest.credentials.first?.id == ids[page.credentials.count])
            for id in ids where id.hasPrefix("alice") {
                cache.apply(cache.changes(removing: RemoveCredential(id: id)), in: .standard)
            }
            let others = cache.credentials(ListCredentials(after: next), localScheme: "https")
            #expect(others.credentials.first?.id == ids.first { $0.hasPrefix("bob") })
        }
    }

    // MARK: Records

    private static func scope(_ number: Int) -> String { "scope-\(1000 + number)" }

    private static func key(_ user: String) throws -> AccountKey {
        AccountKey(issuer: .microsoft, identity: .home(try #require(HomeAccountID("\(user).\(CacheBuilder.tenant)"))))
    }

    private static func account(_ user: String) -> AccountRecord {
        AccountRecord(
            homeAccountID: "\(user).\(CacheBuilder.tenant)", environment: "login.windows.net",
            realm: CacheBuilder.tenant, localAccountID: user, username: user, authorityType: "MSSTS", source: "msal")
    }

    private static func token(_ user: String, scope: String) throws -> AccessTokenRecord {
        AccessTokenRecord(
            account: try key(user), environment: "login.windows.net", clientID: try #require(CacheBuilder.app),
            realm: CacheBuilder.tenant, version: .v2, scopes: ScopeSet([scope]), tokenType: "Bearer",
            secret: Secret("at"), cachedAt: 0, expiresOn: 1000, extendedExpiresOn: nil, refreshOn: nil)
    }

    private static func refreshToken(_ user: String) throws -> RefreshTokenRecord {
        RefreshTokenRecord(
            account: try key(user), environment: "login.windows.net", clientID: try #require(CacheBuilder.app),
            familyID: nil, secret: Secret("rt"))
    }
}
