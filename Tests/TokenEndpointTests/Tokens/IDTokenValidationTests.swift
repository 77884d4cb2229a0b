internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// OpenID Connect Core 1.0 sections 3.1.3.7 and 12.2, claim by claim.
@Suite(.bounded) struct IDTokenValidationTests {
    private static let now: Int64 = 1_800_000_000
    private static let issuer = "https://id.example/main"
    /// The claims of a valid ID token, as JSON.
    private static let valid = [
        "iss": #""https://id.example/main""#, "sub": #""Sub""#, "aud": #""app-1""#, "exp": "1800003600",
        "nonce": #""n-1""#,
    ]

    /// Claims that replace those of a valid ID token; an empty text leaves a claim out.
    struct Row: Sendable, CustomTestStringConvertible {
        var claims: [String: String]
        /// A part of the defect; nil if the token is valid.
        var defect: String?
        var testDescription: String { "\(claims.sorted { $0.key < $1.key }) \(defect ?? "")" }

        init(_ claims: [String: String], _ defect: String? = nil) {
            self.claims = claims
            self.defect = defect
        }
    }

    private static func token(_ claims: [String: String]) -> String {
        let members = valid.merging(claims) { $1 }.filter { !$0.value.isEmpty }.map { "\"\($0)\":\($1)" }.sorted()
        return token(payload: "{\(members.joined(separator: ","))}")
    }

    private static func token(payload: String) -> String {
        "e30.\(Base64URL.encode(Data(payload.utf8)))."
    }

    private static func defect(
        _ idToken: String, of authority: Authority, issuer: String? = nil, nonce: String? = "n-1",
        subject: String? = nil, times: [Int64] = [now]
    ) throws -> String? {
        var request = try TokenRequest.sample(authority)
        request.nonce = nonce
        request.subject = subject
        return IDTokenValidation(request: request, issuer: issuer, times: times).defect(of: idToken)
    }

    private func provider() throws -> Authority { try Authority(Self.issuer, kind: .openID) }

    private static let rows: [Row] = [
        Row([:]),
        Row(["iss": ""], "issuer"), Row(["iss": "7"], "issuer"),
        Row(["iss": #"["https://id.example/main"]"#], "issuer"),
        Row(["iss": #""https://id.example/other""#], "issuer"), Row(["iss": #""https://id.example/main/""#], "issuer"),
        Row(["iss": #""HTTPS://id.example/main""#], "issuer"),
        // The keys of duplicate claims may be spelled differently, and are the same.
        Row(["i\\u0073s": #""https://id.example/main""#], "cannot be read"),
        Row(["aud": ""], "app"), Row(["aud": "null"], "app"), Row(["aud": "7"], "app"), Row(["aud": "[]"], "app"),
        Row(["aud": #""app-2""#], "app"), Row(["aud": #"{"app-1":"app-1"}"#], "app"),
        Row(["aud": #"["app-1",7]"#, "azp": #""app-1""#], "app"), Row(["aud": #"["app-1"]"#]),
        Row(["aud": #"["app-1","app-1"]"#]), Row(["aud": #"["app-1","app-2"]"#], "app"),
        Row(["aud": #"["app-1","app-2"]"#, "azp": #""app-2""#], "app"),
        Row(["aud": #"["app-1","app-2"]"#, "azp": #"["app-1"]"#], "app"),
        Row(["aud": #"["app-1","app-2"]"#, "azp": #""app-1""#]),
        Row(["aud": #"["app-2","app-3"]"#, "azp": #""app-1""#], "app"),
        Row(["azp": #""app-1""#]), Row(["azp": #""app-2""#], "app"), Row(["azp": "null"]),
        Row(["exp": ""], "expired"), Row(["exp": #""1800003600""#], "expired"), Row(["exp": "null"], "expired"),
        Row(["exp": "1799999700"], "expired"), Row(["exp": "1799999701"]), Row(["exp": "1799999700.5"]),
        Row(["exp": "-1800003600"], "expired"), Row(["exp": "1.8000036e9"]), Row(["exp": "9e999"]),
        Row(["exp": "-9e999"], "expired"),
        Row(["nonce": ""], "nonce"), Row(["nonce": #""n-2""#], "nonce"), Row(["nonce": #"["n-1"]"#], "nonce"),
        Row(["nonce": #""N-1""#], "nonce"),
        Row(["sub": ""], "subject"), Row(["sub": #"" ""#], "subject"), Row(["sub": "7"], "subject"),
    ]

    @Test(arguments: rows) func checksAnOpenIDProvider(row: Row) throws {
        let defect = try Self.defect(Self.token(row.claims), of: provider(), issuer: Self.issuer)
        #expect((defect == nil) == (row.defect == nil))
        if let part = row.defect { #expect(defect?.contains(part) == true, "\(defect ?? "")") }
    }

    /// The document may name the issuer with a slash, and the tokens have to name it likewise.
    @Test func comparesTheIssuerWithThatOfTheDocument() throws {
        let slash = Self.issuer + "/"
        #expect(try Self.defect(Self.token(["iss": #""\#(slash)""#]), of: provider(), issuer: slash) == nil)
        #expect(try Self.defect(Self.token([:]), of: provider(), issuer: slash) != nil)
    }

    @Test func comparesTheSubjectWithTheOneBefore() throws {
        let provider = try provider()
        let token = Self.token(["nonce": ""])
        for (subject, isSame) in [(nil, true), ("Sub", true), ("sub", false), ("other", false), ("", false)] {
            let defect = try Self.defect(token, of: provider, issuer: Self.issuer, nonce: nil, subject: subject)
            #expect((defect == nil) == isSame, "\(subject ?? "none")")
        }
    }

    /// A refresh repeats no nonce, and a provider may put any into the ID token.
    @Test func comparesNoNonceThatWasNotSent() throws {
        #expect(try Self.defect(Self.token([:]), of: provider(), issuer: Self.issuer, nonce: nil) == nil)
    }

    /// The clock of this machine may be wrong: the provider's counts too.
    @Test func takesATokenThatIsCurrentByEitherClock() throws {
        let token = Self.token([:])
        let hour: Int64 = 3600
        for (times, isCurrent) in [
            ([Self.now + 2 * hour], false), ([Self.now + 2 * hour, Self.now], true),
            ([Self.now, Self.now + 2 * hour], true),
            ([Self.now + 2 * hour, Self.now + 3 * hour], false), ([Self.now - 1000 * hour], true),
        ] {
            let defect = try Self.defect(token, of: provider(), issuer: Self.issuer, times: times)
            #expect((defect == nil) == isCurrent, "\(times)")
        }
    }

    private static let microsoft = [
        "https://login.microsoftonline.com/common", "https://contoso.b2clogin.com/tfp/contoso.com/b2c_1_a",
        "https://fs.contoso.com/adfs", "https://contoso.ciamlogin.com",
    ]

    @Test(
        arguments: microsoft,
        [
            Row([:]), Row(["iss": ""]), Row(["sub": ""]), Row(["azp": #""app-2""#]),
            Row(["iss": #""https://sts.windows.net/8E0E-T1/""#, "tid": #""8e0e-t1""#]),
            Row(["iss": #""https://login.microsoftonline.com/8e0e-t1/v2.0""#, "tid": #""8e0e-t1""#]),
            Row(["aud": ""], "app"), Row(["aud": #""app-2""#], "app"), Row(["aud": #"["app-1","app-2"]"#], "app"),
            Row(["aud": #"["app-1","app-2"]"#, "azp": #""app-1""#]),
            Row(["exp": ""], "expired"), Row(["exp": "1799999700"], "expired"),
            Row(["exp": #""1800003600""#], "expired"),
            Row(["nonce": ""], "nonce"), Row(["nonce": #""n-2""#], "nonce"),
        ])
    func checksMicrosoftsProviders(url: String, row: Row) throws {
        let defect = try Self.defect(Self.token(row.claims), of: Authority(url), subject: "another")
        #expect((defect == nil) == (row.defect == nil))
        if let part = row.defect { #expect(defect?.contains(part) == true, "\(defect ?? "")") }
    }

    /// The ID tokens of an AD FS have the issuer of its discovery document, which names `access_token_issuer` besides.
    @Test(
        arguments: [
            ("https://fs.contoso.com/adfs", "https://fs.contoso.com/adfs", true),
            ("https://sts.contoso.com/adfs", "https://sts.contoso.com/adfs", true),
            ("https://fs.contoso.com/adfs", "http://fs.contoso.com/adfs/services/trust", false),
            ("https://fs.contoso.com/adfs", "https://fs.contoso.com/adfs/", false),
            ("https://fs.contoso.com/adfs", "https://evil.example/adfs", false),
            ("https://fs.contoso.com/adfs", nil, false), (nil, "https://evil.example/adfs", true), (nil, nil, true),
        ] as [(String?, String?, Bool)])
    func comparesTheIssuerOfADFSWithThatOfTheDocument(document: String?, named: String?, isValid: Bool) throws {
        let token = Self.token(["iss": named.map { "\"\($0)\"" } ?? ""])
        let defect = try Self.defect(token, of: Authority("https://fs.contoso.com/adfs"), issuer: document)
        #expect((defect == nil) == isValid)
        #expect(isValid || defect == "of another issuer")
    }

    /// B2C's issuer has the tenant's ID, or that and the policy, as the policy's settings say; its discovery document has the same.
    /// Without a document, the tenant has to agree, if the token names one.
    @Test(
        arguments: [
            (b2cIssuer, b2cIssuer, nil, true), (b2cPolicyIssuer, b2cPolicyIssuer, nil, true),
            (b2cIssuer, b2cPolicyIssuer, nil, false), (b2cPolicyIssuer, b2cIssuer, nil, false),
            (b2cIssuer, "https://contoso.b2clogin.com/t-1/v2.0", nil, false),
            (b2cIssuer, "https://contoso.b2clogin.com/t-2/v2.0/", nil, false),
            (b2cIssuer, "https://evil.example/t-1/v2.0/", "t-1", false), (b2cIssuer, nil, nil, false),
            (nil, b2cIssuer, nil, true), (nil, b2cPolicyIssuer, "T-1", true), (nil, nil, nil, true),
            (nil, b2cIssuer, "t-2", false),
        ] as [(String?, String?, String?, Bool)])
    func comparesTheIssuerOfB2CWithThatOfTheDocument(
        document: String?, named: String?, tenant: String?, isValid: Bool
    ) throws {
        var claims = ["iss": named.map { "\"\($0)\"" } ?? ""]
        claims["tid"] = tenant.map { "\"\($0)\"" }
        let policy = try Authority("https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_A")
        let defect = try Self.defect(Self.token(claims), of: policy, issuer: document)
        #expect((defect == nil) == isValid)
        #expect(isValid || defect == "of another issuer")
    }

    private static let b2cIssuer = "https://contoso.b2clogin.com/t-1/v2.0/"
    private static let b2cPolicyIssuer = "https://contoso.b2clogin.com/tfp/t-1/b2c_1_a/v2.0/"

    /// The tenant becomes a segment of the paths of requests.
    @Test(arguments: ["t/..", "..", "t\\u0000", "t t"]) func refusesATenantThatIsNoPartOfAURL(tenant: String) throws {
        let claims = ["iss": #""https://login.microsoftonline.com/t/v2.0""#, "tid": "\"\(tenant)\""]
        let entra = try Authority("https://login.microsoftonline.com/common")
        #expect(try Self.defect(Self.token(claims), of: entra) == "of another issuer")
        #expect(try Self.defect(Self.token(["iss": "", "tid": "\"\(tenant)\""]), of: entra) == "of another issuer")
    }

    @Test(arguments: microsoft) func comparesTheTenantWithTheIssuer(url: String) throws {
        let claims = ["iss": #""https://sts.windows.net/t2/""#, "tid": #""t1""#]
        let authority = try Authority(url)
        // An AD FS has no tenants.
        let namesTenants = authority.kind != .adfs
        #expect((try Self.defect(Self.token(claims), of: authority) != nil) == namesTenants)
    }

    @Test(
        arguments: [
            "", "e30", "[]", "7", "{", #"{"aud":"app-1","exp":1800003600}x"#, "nonsense",
            #"{"iss":"https://id.example/main","sub":"s","aud":"app-1","exp":1800003600,"nonce":"n-1","nonce":"n-2"}"#,
            #"{"iss":"https://id.example/main","sub":"s","aud":"app-1","exp":1800003600,"nonce":"n-2","nonce":"n-1"}"#,
            #"{"iss":"https://id.example/main","sub":"s","aud":"app-1","exp":1800003600,"nonce":"n-1","name":"a","name":"b"}"#,
        ])
    func takesNoClaimsThatReadersMayTakeDifferently(payload: String) throws {
        for authority in try [provider(), Authority(Self.microsoft[0])] {
            let defect = try Self.defect(Self.token(payload: payload), of: authority)
            #expect(defect?.contains("cannot be read") == true)
        }
    }

    /// A token of the largest size, which the provider fills with whatever costs the reader most.
    @Test(arguments: ["[", #"{"a":"#, #""a","#, "[],", "1,"]) func boundsTheWorkOfReading(filler: String) throws {
        let count = ValueLimits.idToken * 3 / 4 / filler.utf8.count - 20
        let filled = String(repeating: filler, count: count)
        for payload in ["{\"x\":[\(filled)1]}", "{\"aud\":[\(filled)1]}", "{\"x\":\(filled)"] {
            #expect(try Self.defect(Self.token(payload: payload), of: provider()) != nil)
        }
        let long = Self.token(["x": "\"\(String(repeating: "x", count: ValueLimits.idToken))\""])
        #expect(try Self.defect(long, of: provider(), issuer: Self.issuer)?.contains("cannot be read") == true)
    }
}
