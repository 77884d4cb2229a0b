internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The default values of absent fields, as PROTOCOL.md states them.
@Suite(.bounded) struct DefaultsTests {
    private let app = WireBytes.field(1, "app")

    @Test func completesASilentRequest() throws {
        let request = try AnyRequest(decoding: WireBytes.field(11, WireBytes.field(1, app)))
        var silent = try #require(request.request as? AcquireTokenSilent)
        #expect(request.id == 0)
        // As an earlier version's requests, which have no such field.
        #expect(!silent.acceptsSingleIDToken)
        silent.acceptsSingleIDToken = true
        #expect(
            silent
                == AcquireTokenSilent(
                    parameters: TokenParameters(
                        clientID: try #require(ClientID("app")), sharingGroup: .standard, authority: .common,
                        version: .v2, scopes: ScopeSet([]), redirectURI: nil, claims: nil, capabilities: [],
                        extraParameters: [:], validatesAuthority: true, correlationID: silent.parameters.correlationID),
                    account: AccountReference(), forceRefresh: false, expirationBuffer: 300,
                    allowsExtendedLifetime: false))
    }

    @Test func completesTheOtherRequests() throws {
        let clientID = try #require(ClientID("app"))
        #expect(
            try AnyRequest(decoding: WireBytes.field(10, "")).request as? Hello
                == Hello(protocolVersion: 1, appName: ""))
        #expect(
            try AnyRequest(decoding: WireBytes.field(17, "")).request as? ListAccounts == ListAccounts(clientID: nil))
        #expect(
            try AnyRequest(decoding: WireBytes.field(18, app)).request as? RemoveAccount
                == RemoveAccount(clientID: clientID, sharingGroup: .standard, account: AccountReference(), extent: .app)
        )
        #expect(try AnyRequest(decoding: WireBytes.field(20, "")).request as? Diagnose == Diagnose(authority: nil))
    }

    @Test func completesATokenResult() throws {
        let bytes = WireBytes.field(11, WireBytes.field(1, "token") + WireBytes.field(7, ""))
        let result = try ReplyFrame(decoding: bytes).reply(to: AcquireTokenSilent.self)
        #expect(
            result
                == TokenResult(
                    accessToken: Secret("token"), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
                    account: Account(homeAccountID: nil, username: nil, environment: "", source: .msal),
                    tenantProfile: nil, authority: "", correlationID: result.correlationID, isFromCache: false))
    }

    @Test func completesAFailure() throws {
        #expect(try ReplyFrame(decoding: WireBytes.field(2, "")).failure == TokenError(.internalError, ""))
    }

    @Test func takesAnAuthoritysKindFromItsURL() throws {
        let authority = WireBytes.field(1, "https://sts.example.com/adfs/")
        #expect(
            try AnyRequest(decoding: WireBytes.field(20, WireBytes.field(1, authority))).request as? Diagnose
                == Diagnose(authority: try Authority("https://sts.example.com/adfs", kind: .adfs)))
    }

    /// Enum values of a later agent, and numbers beyond the range of enums, do not stop an app.
    @Test(arguments: [0, 99, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, UInt64.max])
    func takesTheDefaultForAnUnknownEnumNumberInAReply(number: UInt64) throws {
        let account = WireBytes.field(4, number)
        let frame = try ReplyFrame(decoding: WireBytes.field(17, WireBytes.field(1, account)))
        #expect(
            try frame.reply(to: ListAccounts.self)
                == ListAccounts.Reply(accounts: [
                    Account(homeAccountID: nil, username: nil, environment: "", source: .msal)
                ]))

        // A message that requests and replies have.
        let authority = WireBytes.field(1, "https://login.example.com/common") + WireBytes.field(2, number)
        let socket = WireBytes.field(3, "app") + WireBytes.field(7, authority)
        let sockets = try ReplyFrame(decoding: WireBytes.field(35, WireBytes.field(1, socket)))
        #expect(try sockets.reply(to: ListSockets.self).sockets.first?.authorities.map(\.kind) == [.entra])
    }

    /// The list is what `ssoctl sign-out` reads, too.
    @Test func passesOverCredentialsOfAKindThatOnlyALaterAgentKnows() throws {
        let (first, last) = (credential(2, "first"), credential(1, "last"))
        let later = credential(99, "later")
        let list = [first, later, last].flatMap { WireBytes.field(1, $0) } + WireBytes.field(2, "next")
        let page = try ReplyFrame(decoding: WireBytes.field(21, list)).reply(to: ListCredentials.self)
        #expect(page.credentials.map(\.id) == ["first", "last"])
        #expect(page.credentials.map(\.kind) == [.refreshToken, .accessToken])
        #expect(page.next == "next")
    }

    private func credential(_ kind: UInt64, _ id: String) -> [UInt8] {
        WireBytes.field(1, id) + WireBytes.field(2, kind) + WireBytes.field(3, "app")
    }

    @Test func passesOverFieldsOfALaterVersion() throws {
        let later = WireBytes.field(999, "later") + WireBytes.field(998, 7)
        let hello = WireBytes.field(1, 1) + WireBytes.field(2, "notes") + later
        #expect(
            try AnyRequest(decoding: later + WireBytes.field(1, 5) + WireBytes.field(10, hello) + later)
                == AnyRequest(Hello(appName: "notes"), id: 5))
        #expect(
            try AnyReply(decoding: later + WireBytes.field(1, 5) + WireBytes.field(18, WireBytes.field(1, 1) + later))
                == AnyReply(RemoveAccount.Reply(removed: true), to: RemoveAccount.self, id: 5))
    }

    @Test func takesTheLastOfTwoBodies() throws {
        let both = WireBytes.field(19, "") + WireBytes.field(10, WireBytes.field(2, "notes"))
        #expect(try AnyRequest(decoding: both).request as? Hello == Hello(appName: "notes"))
    }
}
