internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// What a field means when it is not there, as PROTOCOL.md states it.
@Suite(.bounded) struct DefaultsTests {
    private let app = WireBytes.field(1, "app")

    @Test func completesASilentRequest() throws {
        let request = Request(decoding: WireBytes.field(11, WireBytes.field(1, app)))
        guard case .acquireTokenSilent(let silent) = request.body else {
            Issue.record("\(request)")
            return
        }
        #expect(request.id == 0)
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
        #expect(Request(decoding: WireBytes.field(10, "")).body == .hello(Hello(protocolVersion: 1, appName: "")))
        #expect(Request(decoding: WireBytes.field(17, "")).body == .listAccounts(ListAccounts(clientID: nil)))
        #expect(
            Request(decoding: WireBytes.field(18, app)).body
                == .removeAccount(
                    RemoveAccount(
                        clientID: clientID, sharingGroup: .standard, account: AccountReference(), extent: .app)))
        #expect(Request(decoding: WireBytes.field(20, "")).body == .diagnose(Diagnose(authority: nil)))
    }

    @Test func completesATokenResult() throws {
        let bytes = WireBytes.field(11, WireBytes.field(1, "token") + WireBytes.field(7, ""))
        let reply = try Reply(decoding: bytes)
        guard case .acquireTokenSilent(let result) = reply.body else {
            Issue.record("\(reply)")
            return
        }
        #expect(
            result
                == TokenResult(
                    accessToken: Secret("token"), tokenType: "Bearer", expiresOn: 0, scopes: [], idToken: nil,
                    account: Account(homeAccountID: nil, username: nil, environment: "", source: .msal),
                    tenantProfile: nil, authority: "", correlationID: result.correlationID, isFromCache: false))
    }

    @Test func completesAFailure() throws {
        let reply = try Reply(decoding: WireBytes.field(2, ""))
        #expect(reply.body == .failure(TokenError(.internalError, "")))
    }

    @Test func takesAnAuthoritysKindFromItsURL() throws {
        let authority = WireBytes.field(1, "https://sts.example.com/adfs/")
        #expect(
            Request(decoding: WireBytes.field(20, WireBytes.field(1, authority))).body
                == .diagnose(Diagnose(authority: try Authority("https://sts.example.com/adfs", kind: .adfs))))
    }

    /// Numbers of a later version, and numbers that no enum can have: neither may stop the agent.
    @Test(arguments: [0, 99, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, UInt64.max])
    func takesTheDefaultForAnUnknownEnumNumber(number: UInt64) throws {
        let authority = WireBytes.field(1, "https://login.example.com/common") + WireBytes.field(2, number)
        let parameters = app + WireBytes.field(3, authority) + WireBytes.field(4, number)
        let request = Request(decoding: WireBytes.field(14, WireBytes.field(1, parameters)))
        guard case .beginDeviceCode(let begin) = request.body else {
            Issue.record("\(request)")
            return
        }
        #expect(begin.parameters.version == .v2)
        #expect(begin.parameters.authority.kind == .entra)

        let account = WireBytes.field(4, number)
        let reply = try Reply(decoding: WireBytes.field(17, WireBytes.field(1, account)))
        #expect(
            reply.body
                == .listAccounts(
                    ListAccounts.Reply(accounts: [
                        Account(homeAccountID: nil, username: nil, environment: "", source: .msal)
                    ])))
    }

    @Test func passesOverFieldsOfALaterVersion() throws {
        let later = WireBytes.field(999, "later") + WireBytes.field(998, 7)
        let hello = WireBytes.field(1, 1) + WireBytes.field(2, "notes") + later
        #expect(
            Request(decoding: later + WireBytes.field(1, 5) + WireBytes.field(10, hello) + later)
                == Request(id: 5, .hello(Hello(appName: "notes"))))
        #expect(
            try Reply(decoding: later + WireBytes.field(1, 5) + WireBytes.field(18, WireBytes.field(1, 1) + later))
                == Reply(id: 5, .removeAccount(RemoveAccount.Reply(removed: true))))
    }

    @Test func takesTheLastOfTwoBodies() {
        let both = WireBytes.field(19, "") + WireBytes.field(10, WireBytes.field(2, "notes"))
        #expect(Request(decoding: both).body == .hello(Hello(appName: "notes")))
    }
}
