internal import NIOHTTP1
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// The pages that end the session of a browser (OpenID Connect RP-Initiated Logout 1.0).
@Suite(.bounded) struct SignOutPageTests {
    private static let provider = "https://id.example/main"
    private static let farm = "https://fs.example/adfs"
    private static let tenant = "https://contoso.ciamlogin.com/t"
    private static let local = "http://127.0.0.1:8080/openid/main"

    struct Row: Sendable {
        var kind: Authority.Kind
        var authority: String
        var page: String
    }

    @Test(
        arguments: [
            Row(kind: .openID, authority: provider, page: "https://id.example/main/logout"),
            Row(kind: .openID, authority: provider, page: "https://accounts.example/logout?realm=main"),
            Row(kind: .adfs, authority: farm, page: "https://fs.example/adfs/oauth2/logout"),
            Row(kind: .ciam, authority: tenant, page: "https://contoso.ciamlogin.com/t/oauth2/v2.0/logout"),
            Row(kind: .ciam, authority: tenant, page: "https://login.microsoftonline.com/t/oauth2/v2.0/logout"),
            Row(
                kind: .b2c, authority: "https://contoso.b2clogin.com/t/b2c_1_p",
                page: "https://contoso.b2clogin.com/t/b2c_1_p/oauth2/v2.0/logout"),
            Row(kind: .openID, authority: local, page: "http://127.0.0.1:8080/openid/main/logout"),
        ])
    func opensThePageThatTheDocumentNames(row: Row) throws {
        #expect(try Self.page(row) == row.page)
    }

    /// A page of Microsoft's could enter a code, or consent to an app; one without TLS could be anybody's; and what listens on this machine
    /// is not the provider's.
    @Test(
        arguments: [
            Row(kind: .openID, authority: provider, page: "http://id.example/main/logout"),
            Row(kind: .openID, authority: provider, page: "http://127.0.0.1:8080/logout"),
            Row(kind: .openID, authority: provider, page: "https://127.0.0.1:8443/admin?stop=1"),
            Row(kind: .openID, authority: provider, page: "https://login.microsoftonline.com/common/oauth2/logout"),
            Row(kind: .openID, authority: provider, page: "https://login.microsoftonline.com./common/logout"),
            Row(kind: .openID, authority: provider, page: "https://microsoft.com/devicelogin?otc=ABCD"),
            Row(kind: .openID, authority: provider, page: "https://id.example@evil.example/logout"),
            Row(kind: .openID, authority: provider, page: "https://id.example/logout#x"),
            Row(kind: .openID, authority: provider, page: "https://id.example/log out"),
            Row(kind: .openID, authority: provider, page: "javascript:alert(1)"),
            Row(kind: .openID, authority: provider, page: "/logout"),
            Row(kind: .openID, authority: provider, page: "https://id.example/" + String(repeating: "x", count: 4096)),
            Row(kind: .adfs, authority: farm, page: "https://evil.example/adfs/oauth2/logout"),
            Row(kind: .ciam, authority: "https://login.example/t", page: "https://evil.example/t/oauth2/v2.0/logout"),
            Row(kind: .ciam, authority: tenant, page: "https://evil.example/t/oauth2/v2.0/logout"),
            Row(kind: .entra, authority: "https://login.example/t", page: "https://evil.example/t/oauth2/logout"),
            Row(kind: .openID, authority: local, page: "http://id.example/logout"),
        ])
    func opensNoPageThatMayBeAnotherProviders(row: Row) throws {
        #expect(try Self.page(row) == nil)
    }

    /// Tokens do not depend on the page: they can be renewed, whatever the provider says of it.
    @Test(arguments: [#""http://evil.example/p""#, #""javascript:alert(1)""#, #""/logout""#, "5", "null"])
    func takesTheOtherEndpointsOfADocumentWithAWrongPage(page: String) async throws {
        let document = """
            {"token_endpoint":"https://x/t","authorization_endpoint":"https://x/a","end_session_endpoint":\(page)}
            """
        try await EndpointFixture.with({ _ in .json(document) }) { fixture in
            let endpoints = try await fixture.endpoint.endpoints(of: fixture.authority, version: .v2)
            #expect(endpoints == Endpoints(token: "https://x/t", authorization: "https://x/a"))
        }
    }

    /// Neither an ID token nor a name of the user is in the URL.
    @Test(
        arguments: [
            ("/main", .openID, "/logout", "?client_id=my%20app%261"),
            ("/main", .openID, "/logout?a=b", "&client_id=my%20app%261"),
            ("/tfp/t/p", .b2c, "/logout?p=p", "&client_id=my%20app%261"), ("/adfs", .adfs, "/logout", ""),
            ("/t", .ciam, "/logout", ""), ("/common", .entra, "/logout", ""),
        ] as [(String, Authority.Kind, String, String)])
    func addsTheAppWhereTheProtocolHasIt(
        path: String, kind: Authority.Kind, page: String, parameter: String
    ) async throws {
        try await EndpointFixture.with(
            path: path, kind: kind,
            { request in
                let base = "http://\(request.headers.first(name: "Host") ?? "")"
                return .json(
                    #"{"issuer":"\#(base)\#(path)","token_endpoint":"\#(base)/t","authorization_endpoint":"\#(base)/a","#
                        + #""end_session_endpoint":"\#(base)\#(page)"}"#)
            }
        ) { fixture in
            let app = try #require(ClientID("my app&1"))
            let bare = "http://\(fixture.authority.environment)\(page)"
            #expect(try await fixture.endpoint.signOutPage(of: fixture.authority, for: app) == bare + parameter)
            #expect(try await fixture.endpoint.signOutPage(of: fixture.authority, for: nil) == bare)
            let long = ClientID(String(repeating: "x", count: ValueLimits.text))
            #expect(try await fixture.endpoint.signOutPage(of: fixture.authority, for: long) == bare)
            #expect(fixture.server.received.count == 1, "the document is remembered")
        }
    }

    @Test func knowsThePageOfMicrosoftsCloudsWithoutARequest() async throws {
        try await EndpointFixture.with({ _ in .hangUp }) { fixture in
            let authority = try Authority("https://login.microsoftonline.us/contoso.com")
            let page = try await fixture.endpoint.signOutPage(of: authority, for: ClientID("app-1"))
            #expect(page == "https://login.microsoftonline.us/contoso.com/oauth2/v2.0/logout")
        }
    }

    /// That of Windows Server 2012 R2 has neither.
    @Test func knowsNoPageOfAnADFSWithoutADocument() async throws {
        try await EndpointFixture.with(path: "/adfs", { _ in .answer(status: 404, body: "") }) { fixture in
            let page = try await fixture.endpoint.signOutPage(of: fixture.authority, for: nil)
            #expect(page == nil)
        }
    }

    private static func page(_ row: Row) throws -> String? {
        let authority = try Authority(row.authority, kind: row.kind)
        let token = "\(authority.scheme)://\(authority.environment)/token"
        let fields = [
            "issuer": authority.url, "token_endpoint": token, "authorization_endpoint": token,
            "end_session_endpoint": row.page,
        ]
        let document = JSONTree.object(fields.map { JSONTree.Member(name: $0, value: .text($1)) }).json
        let response = HTTPResponse(endpoint: "x", status: 200, body: Secret(document))
        return try Endpoints(response, of: authority, version: .v2).endSession
    }
}
