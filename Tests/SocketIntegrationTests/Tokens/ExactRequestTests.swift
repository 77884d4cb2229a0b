internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// Requests whose texts are canonically equivalent, which Swift's strings are equal for, and have other bytes.
@Suite(.bounded) struct ExactRequestTests {
    private static let composed = "jos\u{E9}@contoso.com"
    private static let decomposed = "jose\u{301}@contoso.com"

    private struct Field: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout AcquireTokenSilent, String) -> Void
    }

    private static let fields = [
        Field(testDescription: "username") { $0.account = AccountReference(username: $1) },
        Field(testDescription: "identifier") { $0.account = AccountReference(homeAccountID: HomeAccountID($1)) },
        Field(testDescription: "client ID") { request, text in
            if let clientID = ClientID(text) { request.parameters.clientID = clientID }
        },
        Field(testDescription: "sharing group") { request, text in
            if let group = SharingGroup(text) { request.parameters.sharingGroup = group }
        },
        Field(testDescription: "scope") { $0.parameters.scopes = ScopeSet([$1]) },
        Field(testDescription: "redirect URI") { $0.parameters.redirectURI = "app://\($1)" },
        Field(testDescription: "claims") { $0.parameters.claims = "{\"a\":\"\($1)\"}" },
        Field(testDescription: "capability") { $0.parameters.capabilities = [$1] },
        Field(testDescription: "name of a parameter") { $0.parameters.extraParameters = [$1: "a"] },
        Field(testDescription: "value of a parameter") { $0.parameters.extraParameters = ["a": $1] },
    ]

    @Test(arguments: fields)
    private func sendsTheBytesOfEachRequest(field: Field) throws {
        let clientID = try #require(ClientID("app-1"))
        var requests: [AcquireTokenSilent] = []
        for text in [Self.composed, Self.decomposed] {
            var request = AcquireTokenSilent(
                parameters: TokenParameters(clientID: clientID, scopes: ScopeSet(["User.Read"])),
                account: AccountReference())
            request.parameters.correlationID = requests.first?.parameters.correlationID ?? CorrelationID()
            field.set(&request, text)
            requests.append(request)
        }
        let frames = SilentRequestFrames()
        for request in requests + requests {
            #expect(try frames.frame(of: request, id: 1) == RequestFrame.encode(request, id: 1))
        }
        #expect(requests[0].isRepeated(by: requests[0]) && !requests[0].isRepeated(by: requests[1]))
    }

    /// The token endpoint may give them different tokens.
    @Test func redeemsForEachOfTwoRequestsWhoseClaimsDiffer() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let peer = try RawPeer(f.socketPath)
            for (id, text) in zip([1, 2], [Self.composed, Self.decomposed]) {
                var parameters = try f.parameters()
                parameters.claims = "{\"access_token\":{\"name\":{\"value\":\"\(text)\"}}}"
                try peer.write(AcquireTokenSilent(parameters: parameters, account: account), id: UInt64(id))
            }
            try peer.write(GetStatus(), id: 3)
            // Requests of one connection begin in their order, so that both have begun.
            #expect(try await offPool { try peer.reply()?.id } == 3)
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            let ids = try await offPool { [try peer.reply()?.id, try peer.reply()?.id] }
            #expect(Set(ids) == [1, 2])
            #expect(f.redemptions == 2)
        }
    }

    /// A sign-out removes what the disk has under the name of the group, byte by byte, or says that there is nothing.
    @Test func signsOutOfTheGroupThatIsNamed() async throws {
        try await AgentFixture.with { f in
            let composed = try #require(SharingGroup(Self.composed))
            let decomposed = try #require(SharingGroup(Self.decomposed))
            let account = try await f.signIn("alice@contoso.com", f.parameters(group: composed)).account.reference
            var removal = RemoveAccount(
                clientID: try f.parameters().clientID, sharingGroup: decomposed, account: account, extent: .account)
            #expect(try await f.agent.removeAccount(removal).removed == false)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, sharingGroup: decomposed)).isEmpty)
            removal.sharingGroup = composed
            #expect(try await f.agent.removeAccount(removal).removed)
            try await f.restarted { f in
                let left = try await f.agent.listCredentials(ListCredentials(sharingGroup: composed))
                #expect(left.isEmpty)
            }
        }
    }
}
