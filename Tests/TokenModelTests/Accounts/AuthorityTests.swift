internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct AuthorityTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var given: String
        var url: String
        var kind = Authority.Kind.entra
        var testDescription: String { given }
    }

    static let normalForms: [Row] = [
        Row(
            given: "https://login.microsoftonline.com/common", url: "https://login.microsoftonline.com/common"),
        Row(given: "  https://Login.Example.COM/Contoso/  ", url: "https://login.example.com/contoso"),
        Row(given: "HTTPS://login.example.com/contoso", url: "https://login.example.com/contoso"),
        Row(given: "https://login.example.com/contoso?x=1#f", url: "https://login.example.com/contoso"),
        Row(given: "https://login.example.com/contoso/oauth2/v2.0/token", url: "https://login.example.com/contoso"),
        Row(given: "https://login.example.com//contoso", url: "https://login.example.com/contoso"),
        Row(given: "https://login.example.com:443/contoso", url: "https://login.example.com/contoso"),
        Row(given: "https://login.example.com:8443/contoso", url: "https://login.example.com:8443/contoso"),
        Row(given: "https://sts.example.com/ADFS/", url: "https://sts.example.com/adfs", kind: .adfs),
        Row(
            given: "https://contoso.b2clogin.com/Contoso.onmicrosoft.com/B2C_1_Sign",
            url: "https://contoso.b2clogin.com/Contoso.onmicrosoft.com/B2C_1_Sign", kind: .b2c),
        Row(
            given: "https://contoso.b2clogin.cn/Contoso.partner.onmschina.cn/B2C_1_Sign",
            url: "https://contoso.b2clogin.cn/Contoso.partner.onmschina.cn/B2C_1_Sign", kind: .b2c),
        Row(given: "https://contoso.b2clogin.us/t/p", url: "https://contoso.b2clogin.us/t/p", kind: .b2c),
        Row(given: "https://contoso.b2clogin.de/t/p", url: "https://contoso.b2clogin.de/t/p", kind: .b2c),
        Row(given: "https://contoso.b2clogin.example/t/p", url: "https://contoso.b2clogin.example/t"),
        Row(
            given: "https://login.example.com/tfp/contoso.onmicrosoft.com/B2C_1_Sign/",
            url: "https://login.example.com/tfp/contoso.onmicrosoft.com/B2C_1_Sign", kind: .b2c),
        Row(
            given: "https://Contoso.ciamlogin.com", url: "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
            kind: .ciam),
        Row(
            given: "https://contoso.ciamlogin.com/Tenant/more", url: "https://contoso.ciamlogin.com/tenant", kind: .ciam
        ),
        Row(given: "https://login.example.com/a%3Fb%2Fc", url: "https://login.example.com/a%3fb%2fc"),
        Row(given: "https://xn--bcher-kva.example/contoso", url: "https://xn--bcher-kva.example/contoso"),
        Row(given: "https://XN--Bcher-KVA.example:8443/c", url: "https://xn--bcher-kva.example:8443/c"),
        Row(given: "http://localhost:8080/common", url: "http://localhost:8080/common"),
        Row(given: "http://localhost:80/common", url: "http://localhost/common"),
        Row(given: "http://127.1.2.3/common", url: "http://127.1.2.3/common"),
        Row(given: "http://[::1]:8080/common", url: "http://[::1]:8080/common"),
        Row(given: "https://[2001:DB8::1]/common", url: "https://[2001:db8::1]/common"),
    ]

    @Test(arguments: normalForms)
    func takesTheNormalForm(row: Row) throws {
        let authority = try Authority(row.given)
        #expect(authority.url == row.url)
        #expect(authority.kind == row.kind)
        #expect(try Authority(authority.url, kind: authority.kind) == authority)
    }

    /// The fast path for plain URLs must give the same result as the full parser.
    @Test(arguments: [
        "https://login.microsoftonline.com/common", "https://login.example.com", "https://login.example.com/",
        "https://a//b/", "https://a..b/../c/./~d_e-f.G", "https://127.0.0.1/x",
        "https://-/x",
    ])
    func readsAPlainURLAsTheFullParserDoes(url: String) throws {
        #expect(try #require(URLParts(plain: url)) == URLParts(parsing: url))
    }

    /// The fast path for Entra's normal form must give the same result as the path for any other: the same URL with a slash at its end.
    @Test(arguments: [
        "https://login.microsoftonline.com/common", "https://login.example.com/contoso", "https://a..b/..",
        "https://-/x",
        "https://sts.example.com/adfs", "https://sts.example.com/adfsx", "https://contoso.b2clogin.com/contoso",
        "https://contoso.b2clogin.cn/contoso", "https://contoso.ciamlogin.com/contoso", "https://ciamlogin.com/contoso",
        "https://login.example.com/tfp", "https://login.example.com/dstsv2",
        "https://127.0.0.1/x", "https://a/b/c", "https://a//b", "https://a", "https:///b", "https://a/b_c",
        "https://a/B",
    ])
    func readsTheNormalFormAsAnyOther(url: String) {
        for kind in Authority.Kind.allCases.map(Optional.some) + [nil] {
            let (plain, other) = (try? Authority(url, kind: kind), try? Authority("\(url)/", kind: kind))
            #expect(plain == other)
            #expect(
                plain.map { "\($0.scheme)://\($0.environment)\($0.path.isEmpty ? "" : "/")\($0.path)" } == plain?.url)
        }
    }

    @Test(arguments: [
        "http://localhost/common", "HTTPS://a/b", "https:///b", "https://A/b", "https://a:443/b", "https://a@b/c",
        "https://a/b?c", "https://a/b#c", "https://a/%41", "https://a/b c", " https://a/b", "https://ä/b",
        "https://[::1]/b",
    ])
    func leavesToTheFullParserWhatIsNotPlain(url: String) {
        #expect(URLParts(plain: url) == nil)
    }

    @Test(arguments: [
        "", " ", "login.example.com/common", "/common", "https://", "https:///common", "ftp://login.example.com/common",
        "http://login.example.com/common", "http://localhost.example.com/common", "http://127.0.0.1.example.com/common",
        "http://127.0.0.256/common", "http://128.0.0.1/common", "https://login.example.com",
        "https://login.example.com/",
        "https://login.example.com/tfp", "https://login.example.com/tfp/tenant", "https://contoso.b2clogin.com",
        "https://ada@login.example.com/common", "https://ada:secret@login.example.com/common",
        "https://sts.example.com:port/common", "https://login.example.com%2Fevil/common",
        "https://login.example.com%3A443/common", "https://login.example.com%00/common",
        "https://bücher.example/common",
        "https://login example.com/common", "https://[fe80::1%25eth0]/common",
    ])
    func refusesWhatCannotIssueTokens(url: String) {
        let error = #expect(throws: TokenError.self) { try Authority(url) }
        #expect(error?.code == .invalidDeveloperParameter)
    }

    /// Programs that have all of Foundation would convert them, and the agent has a part of it.
    @Test(arguments: [
        "https://bücher.example/common", "https://BÜCHER.example:8443/common", "https://login。example.com/common",
        "https://login.example.com\u{200B}/common", "https://\u{212A}.example?x",
    ])
    func asksForTheASCIIFormOfAHost(url: String) {
        let error = #expect(throws: TokenError.self) { try Authority(url, kind: .openID) }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(error?.message.hasSuffix("in the form xn--…") == true, "\(error?.message ?? "")")
    }

    /// The last one is more than a number can be for a parser that would leave it out.
    @Test(arguments: ["0", "65536", "99999", "99999999999999999999"])
    func refusesAPortThatDoesNotExist(port: String) throws {
        for url in ["https://login.example.com:\(port)/common", "http://[::1]:\(port)/common"] {
            let error = #expect(throws: TokenError.self) { try Authority(url) }
            #expect(error?.code == .invalidDeveloperParameter)
            #expect(error?.message.hasSuffix("; a port is a number from 1 to 65535") == true)
        }
        #expect(try Authority("https://login.example.com:65535/common").environment == "login.example.com:65535")
        #expect(try Authority("https://login.example.com:1/common").environment == "login.example.com:1")
    }

    @Test func doesNotRepeatThePasswordOfARefusedURL() {
        let error = #expect(throws: TokenError.self) { try Authority("https://ada:secret@login.example.com/common") }
        #expect(error?.message.contains("secret") == false)
    }

    @Test func believesTheAppAboutAnUnusualKind() throws {
        let authority = try Authority("https://id.example.com/Realms/Main/", kind: .openID)
        #expect(authority.kind == .openID)
        #expect(authority.url == "https://id.example.com/Realms/Main")
        #expect(try Authority("https://id.example.com", kind: .openID).url == "https://id.example.com")
    }

    /// Other paths of the host may belong to anybody, and would get the refresh tokens of the farm.
    @Test(arguments: ["~mallory", "common", "adfsx", "adfs%2f", "x/adfs", ""]) func refusesAnADFSAtAnotherPath(
        path: String
    ) throws {
        let error = #expect(throws: TokenError.self) { try Authority("https://fs.contoso.com/\(path)", kind: .adfs) }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(error?.message.contains("write https://<host>/adfs") == true)
        #expect(try Authority("https://fs.contoso.com/ADFS/ls", kind: .adfs).url == "https://fs.contoso.com/adfs")
    }

    /// They would be taken for the tenant `dstsv2` of Entra.
    @Test(arguments: ["dstsv2", "dstsv2/7a433bfc-2514-4697-b467-e0933190487f", "DSTSv2/x/"])
    func refusesADSTS(path: String) throws {
        let error = #expect(throws: TokenError.self) { try Authority("https://x.dsts.example.com/\(path)") }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(error?.message.hasSuffix("is one of dSTS, which is not supported") == true)
        #expect(try Authority("https://x.dsts.example.com/dstsv2x").kind == .entra)
        #expect(try Authority("https://x.dsts.example.com/\(path)", kind: .openID).kind == .openID)
    }

    @Test func namesEnvironmentAndRealm() throws {
        let authority = try Authority("https://login.example.com:8443/Contoso/")
        #expect(authority.environment == "login.example.com:8443")
        #expect(authority.realm == "contoso")
        #expect(Authority.common == (try Authority("https://login.microsoftonline.com/common/")))
    }

    @Test(arguments: [("common", true), ("organizations", true), ("consumers", true), ("contoso", false)])
    func knowsWhichRealmsAreNoTenant(realm: String, isTenantless: Bool) throws {
        #expect(try Authority("https://login.example.com/\(realm)").isTenantless == isTenantless)
    }

    @Test(arguments: [
        ("http://localhost:1/common", true), ("https://[::1]:1/common", true), ("https://127.0.0.1/common", true),
        ("https://login.example.com/common", false), ("https://[2001:db8::1]/common", false),
    ])
    func knowsThisMachine(url: String, isLoopback: Bool) throws {
        #expect(try Authority(url).isLoopback == isLoopback)
    }

    @Test func changesTenantOnlyWhereThePathIsATenant() throws {
        #expect(Authority.common.withRealm("Contoso").url == "https://login.microsoftonline.com/contoso")
        let adfs = try Authority("https://sts.example.com/adfs")
        #expect(adfs.withRealm("contoso") == adfs)
        let policy = try Authority("https://contoso.b2clogin.com/contoso/B2C_1_Sign")
        #expect(policy.withRealm("fabrikam") == policy)
        let prefixed = try Authority("https://contoso.b2clogin.com/tfp/contoso/B2C_1_Sign/more")
        #expect(prefixed.withRealm("id").url == "https://contoso.b2clogin.com/tfp/id/B2C_1_Sign")
        let other = try Authority("https://id.example.com/realms/main", kind: .openID)
        #expect(other.withRealm("contoso") == other)
    }

    @Test(
        arguments: [
            ("https://contoso.b2clogin.com/tfp/Contoso/B2C_1_Sign", nil, "Contoso", "B2C_1_Sign"),
            ("https://contoso.b2clogin.com/Contoso/B2C_1_Sign", nil, "Contoso", "B2C_1_Sign"),
            ("https://contoso.b2clogin.com/Contoso", nil, "Contoso", nil),
            ("https://fs.contoso.com/adfs/ls", nil, "adfs", nil),
            ("https://contoso.ciamlogin.com", nil, "contoso.onmicrosoft.com", nil),
            ("https://id.example.com/Realms/Main", .openID, "Realms/Main", nil),
            ("https://id.example.com", .openID, "/", nil),
        ] as [(String, Authority.Kind?, String, String?)])
    func namesTheTenantOfEveryKind(url: String, kind: Authority.Kind?, realm: String, policy: String?) throws {
        let authority = try Authority(url, kind: kind)
        #expect(authority.realm == realm)
        #expect(authority.policy == policy)
    }

    @Test func changesEnvironmentWithinACloud() {
        #expect(Authority.common.withEnvironment("login.windows.net").url == "https://login.windows.net/common")
    }
}
