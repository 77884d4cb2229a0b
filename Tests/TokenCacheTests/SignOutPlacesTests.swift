internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// The identity providers at which an account that signs out may have a session in a browser.
@Suite(.bounded) struct SignOutPlacesTests {
    private static let tenant = CacheBuilder.tenant
    private static let alice = AccountReference(username: "alice@contoso.com")

    /// Also if the tokens are in the store only, as after a start.
    @Test(
        arguments: [
            ("https://login.windows.net/common", .entra, "https://login.microsoftonline.com/\(tenant)"),
            ("https://login.microsoftonline.us/common", .entra, "https://login.microsoftonline.us/\(tenant)"),
            ("https://contoso.ciamlogin.com", .ciam, "https://contoso.ciamlogin.com/contoso.onmicrosoft.com"),
            ("https://login.contoso.com/t/b2c_1_in", .b2c, "https://login.contoso.com/t/b2c_1_in"),
            ("https://contoso.b2clogin.com/tfp/t/b2c_1_in", .b2c, "https://contoso.b2clogin.com/tfp/t/b2c_1_in"),
            ("https://fs.contoso.com/adfs", .adfs, "https://fs.contoso.com/adfs"),
            ("https://id.contoso.com/realms/Main", .openID, "https://id.contoso.com/realms/Main"),
            ("https://id.contoso.com", .openID, "https://id.contoso.com"),
            ("http://localhost:8080/openid/main", .openID, "http://localhost:8080/openid/main"),
        ] as [(String, Authority.Kind, String)])
    func isTheAuthorityAtWhichTheAppSignedIn(url: String, kind: Authority.Kind, place: String) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters(url, kind))
        let expected = [SignOutPlace(authority: try Authority(place, kind: kind), clientID: CacheBuilder.app)]
        for request in try [Self.request(), Self.request(.app), Self.request(of: "app-2")] {
            #expect(builder.cache.signOutPlaces(of: request, localScheme: "https") == expected)
        }
        builder.cache.pack(in: .standard, leaving: [])
        #expect(try builder.cache.signOutPlaces(of: Self.request(), localScheme: "https") == expected)
    }

    /// ADAL names no authority, and the sign-out of an app deletes those that it has used. No app is named then.
    @Test(
        arguments: [
            ("https://login.windows.net/common", .entra, "https://login.microsoftonline.com/\(tenant)"),
            ("https://fs.contoso.com/adfs", .adfs, "https://fs.contoso.com/adfs"),
            ("http://localhost:8080/common", .entra, "http://localhost:8080/\(tenant)"),
            ("https://id.contoso.com/realms/Main", .openID, "https://id.contoso.com/realms/Main"),
            ("https://id.contoso.com", .openID, "https://id.contoso.com"),
            ("https://login.contoso.com/t", .ciam, "https://login.contoso.com/t"),
            ("https://contoso.b2clogin.com/tfp/t/b2c_1_in", .b2c, nil),
        ] as [(String, Authority.Kind, String?)])
    func followsFromTheAccountIfNoAppIsSignedIn(url: String, kind: Authority.Kind, place: String?) throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters(url, kind))
        builder.remove(try Self.request(.app))
        let expected = try place.map { SignOutPlace(authority: try Authority($0, kind: kind)) }
        #expect(
            try builder.cache.signOutPlaces(of: Self.request(), localScheme: "http") == [expected].compactMap(\.self))
    }

    /// A request that is limited to its app learns nothing of other apps.
    @Test func namesAnotherAppOnlyIfEveryAppIsSignedOut() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", CacheBuilder.parameters("https://id.contoso.com/main", .openID))
        func app(_ request: RemoveAccount) -> ClientID? {
            builder.cache.signOutPlaces(of: request, localScheme: "https").first?.clientID
        }
        #expect(try app(Self.request(.account, of: "app-2")) == CacheBuilder.app)
        #expect(try app(Self.request(.app, of: "app-2")) == nil)
        var confined = try Self.request(.account, of: "app-2")
        confined.isConfined = true
        let places = builder.cache.signOutPlaces(of: confined, localScheme: "https")
        #expect(places.isEmpty, "the app does not know the account")
    }

    @Test func isOneForEachProviderOfTheName() throws {
        var builder = CacheBuilder()
        try builder.signIn("alice", builder.parameters())
        try builder.signIn("alice", builder.parameters("app-2", resource: "https://r"), hasClientInfo: false)
        for path in ["main", "other"] {
            try builder.signIn("alice", CacheBuilder.parameters("https://id.contoso.com/\(path)", .openID))
        }
        let places = try builder.cache.signOutPlaces(of: Self.request(), localScheme: "https")
        #expect(
            Set(places.map(\.authority.url)) == [
                "https://login.microsoftonline.com/\(Self.tenant)", "https://id.contoso.com/main",
                "https://id.contoso.com/other",
            ])
        #expect(places.count == 3)
        var atOne = try Self.request()
        atOne.environment = "id.contoso.com"
        #expect(builder.cache.signOutPlaces(of: atOne, localScheme: "https").count == 2)
        #expect(try builder.cache.signOutPlaces(of: Self.request(.everything), localScheme: "https").isEmpty)
        let nobody = RemoveAccount(clientID: atOne.clientID, account: AccountReference(), extent: .account)
        #expect(builder.cache.signOutPlaces(of: nobody, localScheme: "https").isEmpty)
    }

    private static func request(
        _ extent: RemoveAccount.Extent = .account, of app: String = "app-1"
    ) throws -> RemoveAccount {
        RemoveAccount(clientID: try #require(ClientID(app)), account: alice, extent: extent)
    }
}
