internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct IDTokenClaimsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var claims: String
        var username: String?
        var testDescription: String { claims }
    }

    static let usernames: [Row] = [
        // v2: preferred_username, else sub.
        Row(
            claims: #"{"ver":"2.0","preferred_username":"Ada@Example.com","upn":"x","sub":"s"}"#,
            username: "Ada@Example.com"),
        Row(claims: #"{"ver":"2.0","preferred_username":" ","sub":"Sub"}"#, username: "Sub"),
        Row(claims: #"{"ver":"2.0","upn":"ada"}"#, username: nil),
        // v1: the first of six, in lower case.
        Row(
            claims: #"{"ver":"1.0","upn":"Ada@Example.com","email":"e","preferred_username":"p"}"#,
            username: "ada@example.com"),
        Row(claims: #"{"ver":"1.0","upn":" ","email":"E","sub":"s"}"#, username: "e"),
        Row(claims: #"{"ver":"1.0","sub":"S","oid":"o","unique_name":"n"}"#, username: "s"),
        Row(claims: #"{"ver":"1.0","oid":"O","unique_name":"n"}"#, username: "o"),
        Row(claims: #"{"ver":"1.0","unique_name":"N","altsecid":"a"}"#, username: "n"),
        Row(claims: #"{"ver":"1.0","altsecid":"1:live.com:A"}"#, username: "1:live.com:a"),
        // No version, as from AD FS and others: recognised by the claims.
        Row(claims: #"{"upn":"Ada@Example.com","preferred_username":"P"}"#, username: "ada@example.com"),
        Row(claims: #"{"unique_name":"CONTOSO\\ada","sub":"S"}"#, username: "s"),
        Row(claims: #"{"preferred_username":"P","sub":"s"}"#, username: "P"),
        Row(claims: #"{"sub":"Sub"}"#, username: "Sub"),
        // Okta's version is a number.
        Row(claims: #"{"ver":1,"preferred_username":"P","sub":"s"}"#, username: "P"),
        Row(claims: "{}", username: nil),
    ]

    @Test(arguments: usernames)
    func choosesTheUsernameByTheIssuersVersion(row: Row) throws {
        let claims = try #require(IDTokenClaims(idToken: Self.token(row.claims)))
        #expect(claims.username == row.username)
    }

    @Test func readsATokenThatIsItsPayloadAlone() {
        let payload = Base64URL.encode(Data(#"{"upn":"ada","tid":"t"}"#.utf8))
        #expect(IDTokenClaims(idToken: payload)?.upn == "ada")
        #expect(IDTokenClaims(idToken: "." + payload + ".")?.tenantID == "t")
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "header.!!!.signature", "e30", "W10"])
    func returnsNilUnlessThePayloadIsAnObject(token: String) {
        let claims = IDTokenClaims(idToken: token)
        // "e30" is an empty object without claims; the others are not objects.
        #expect((claims != nil) == (token == "e30"))
        #expect(claims?.username == nil)
    }

    @Test(arguments: [
        #"{"upn":7}"#, #"{"upn":["ada"]}"#, #"{"name":{}}"#, #"{"iss":true}"#, #"{"upn":"ada""#, #"{"upn":"ada"}}"#,
        String(repeating: #"{"a":"#, count: 1000),
    ])
    func refusesAClaimThatIsNotAStringAndTextThatIsNotJSON(claims: String) {
        #expect(IDTokenClaims(idToken: Self.token(claims)) == nil)
    }

    @Test func ignoresClaimsThatAreNullOrNotUsed() throws {
        let claims = try #require(
            IDTokenClaims(idToken: Self.token(#"{"upn":null,"name":"","aud":["a"],"exp":1.5e3,"sub":"\u0061\n"}"#)))
        #expect(claims.upn == nil)
        #expect(claims.name == "")
        #expect(claims.subject == "a\n")
    }

    /// RFC 7519 section 4.
    @Test func takesTheLastOfSeveralClaimsWithOneName() {
        #expect(IDTokenClaims(idToken: Self.token(#"{"tid":"first","tid":"last"}"#))?.tenantID == "last")
    }

    @Test(
        arguments: [
            (#"{"oid":"OID-1","sub":"s"}"#, "oid-1"), (#"{"oid":" ","sub":"Sub"}"#, "sub"), ("{}", nil),
        ] as [(String, String?)])
    func namesTheAccountWithinATenant(claims: String, localAccountID: String?) {
        #expect(IDTokenClaims(idToken: Self.token(claims))?.localAccountID == localAccountID)
    }

    private static func token(_ claims: String) -> String {
        "header.\(Base64URL.encode(Data(claims.utf8))).signature"
    }

    /// The tenant becomes a segment of the paths of requests.
    @Test(arguments: ["..", "a/../b", "a b", "a?b", "a%2fb", "teñant", "-a", ""])
    func readsNoTenantThatIsNoPartOfAURL(_ tenant: String) {
        let claims = IDTokenClaims(idToken: Self.token("{\"sub\":\"s\",\"tid\":\"\(tenant)\"}"))
        #expect(claims?.subject == "s" && claims?.tenantID == nil)
    }
}
