internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Listing and removing credentials, and redeeming grants that apps have.
@Suite(.bounded) struct CredentialTests {
    @Test func listsAccessTokensWithAndRefreshTokensWithoutTheirSecrets() async throws {
        try await AgentFixture.with { f in
            let token = try await f.signIn("alice@contoso.com", f.parameters(resource: "https://graph.example"))
            let listed = try await f.agent.listCredentials(ListCredentials(version: .v1))
            #expect(listed.map(\.kind) == [.accessToken, .refreshToken])
            #expect(listed.first?.accessToken == token.accessToken)
            #expect(listed.first?.authority == "\(f.emulator.url)/common")
            #expect(listed.first?.scopes.resource == "https://graph.example")
            #expect(listed.last?.accessToken == nil)
            #expect(listed.allSatisfy { $0.account.homeAccountID == token.account.homeAccountID && $0.idToken != nil })
        }
    }

    @Test func leavesOutWhatSomebodyCouldActWith() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            let listed = try await f.agent.listCredentials(ListCredentials(withoutSecrets: true))
            #expect(listed.map(\.kind) == [.accessToken, .refreshToken])
            #expect(listed.allSatisfy { $0.accessToken == nil && $0.idToken == nil && !$0.authority.isEmpty })
        }
    }

    /// An export has them, and no other reply.
    @Test func sendsNoRefreshTokenToAnApp() async throws {
        try await AgentFixture.with { f in
            let (parameters, v1) = (try f.parameters(), try f.parameters(resource: "https://graph.example"))
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            try await f.signIn("alice@contoso.com", v1)
            let before = try await f.agent.exportedRefreshTokens()
            let grant = Secret(try #require(before.first))
            let requests: [any WireRequest] = [
                Hello(appName: "app"), GetStatus(includesMetrics: true), Diagnose(authority: parameters.authority),
                GetKey(), ListSockets(), ListAccounts(clientID: nil), ListAccounts(clientID: parameters.clientID),
                GetCurrentAccount(clientID: parameters.clientID), WatchEvents(clientID: nil), ListCredentials(),
                AcquireTokenSilent(parameters: parameters, account: account),
                RedeemGrant(parameters: parameters, kind: .refreshToken, grant: grant),
                AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true),
                AcquireTokenSilent(parameters: v1, account: account, forceRefresh: true), ListCredentials(),
            ]
            let peer = try RawPeer(f.socketPath)
            var replies = Data()
            for request in requests {
                try peer.write(request)
                replies += try #require(try await offPool { try peer.replyBytes() })
            }
            let tokens = before.union(try await f.agent.exportedRefreshTokens())
            #expect(tokens.allSatisfy { replies.range(of: Data($0.utf8)) == nil })
        }
    }

    @Test func listsAccessTokensOfTheRequestedVersionOnly() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            #expect(try await f.agent.listCredentials(ListCredentials(version: .v1)).map(\.kind) == [.refreshToken])
            #expect(try await f.agent.listCredentials(ListCredentials()).count == 2)
        }
    }

    /// Only Entra has an authority for all tenants.
    @Test(
        arguments: [
            ("https://fs.contoso.com/adfs", "https://api.contoso.com"),
            ("https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn", nil),
            ("https://contoso.ciamlogin.com", nil),
        ] as [(String, String?)])
    func listsARefreshTokenAtTheAuthorityOfItsAccessToken(authority: String, resource: String?) async throws {
        try await AgentFixture.online { f in
            let parameters = try f.parameters(at: authority, resource: resource, validates: false)
            try await f.signIn("alice@contoso.com", parameters)
            let listed = try await f.agent.listCredentials(ListCredentials())
            #expect(listed.map(\.kind) == [.accessToken, .refreshToken])
            #expect(listed.last?.authority == listed.first?.authority)
        }
    }

    @Test func listsManyCredentialsPageByPageAndEachOnce() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            for number in 0..<250 {
                _ = try await f.silent(f.parameters(scopes: ["Scope.\(number)"]), alice, force: true)
            }
            let ids = try await f.agent.listCredentials(ListCredentials()).map(\.id)
            #expect(ids.count == 252)
            #expect(Set(ids).count == ids.count)
        }
    }

    @Test func removesOneCredentialAndNothingElse() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            let listed = try await f.agent.listCredentials(ListCredentials())
            let refresh = try #require(listed.first { $0.kind == .refreshToken })
            #expect(try await f.agent.removeCredential(RemoveCredential(id: refresh.id)).removed)
            #expect(try await f.agent.removeCredential(RemoveCredential(id: refresh.id)).removed == false)
            #expect(try await f.agent.listCredentials(ListCredentials()).map(\.kind) == [.accessToken])
        }
    }

    @Test func reportsTheRefusalOfAnAppsOwnRefreshTokenAndRemovesNothing() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            let grant = RedeemGrant(parameters: try f.parameters(), kind: .refreshToken, grant: Secret("made-up"))
            let error = await #expect(throws: TokenError.self) { try await f.agent.redeemGrant(grant) }
            #expect(error?.code == .invalidGrant)
            #expect(try await f.agent.listCredentials(ListCredentials()).count == 2)
        }
    }
}

/// The current account of an app, and the previous one.
@Suite(.bounded) struct CurrentAccountTests {
    @Test func keepsTheCurrentAccountAcrossARestart() async throws {
        try await AgentFixture.with { f in
            let question = GetCurrentAccount(clientID: try f.parameters().clientID)
            #expect(try await f.agent.currentAccount(question) == GetCurrentAccount.Reply())
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account
            let first = try await f.agent.currentAccount(question)
            #expect(first.account?.homeAccountID == alice.homeAccountID)
            #expect(first.previous == nil)
            try await f.restarted { f in
                _ = try await f.agent.removeAccount(
                    RemoveAccount(clientID: question.clientID, account: alice.reference))
                let gone = try await f.agent.currentAccount(question)
                #expect(gone.account == nil)
                #expect(gone.previous?.homeAccountID == alice.homeAccountID)
                #expect(gone.previous?.username == "alice@contoso.com")
                #expect(try await f.agent.currentAccount(question).previous == nil)
            }
        }
    }

    @Test func reportsTheCurrentAccountEvenIfItCannotBeStored() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let question = GetCurrentAccount(clientID: try f.parameters().clientID)
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account
            _ = try await f.agent.currentAccount(question)
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: question.clientID, account: alice.reference))
            disk.fail(.full)
            let gone = try await f.agent.currentAccount(question)
            #expect(gone.account == nil)
            #expect(gone.previous?.homeAccountID == alice.homeAccountID)
            disk.recover()
        }
    }

    @Test func refusesToChooseAmongSeveral() async throws {
        try await AgentFixture.with { f in
            for name in ["alice@contoso.com", "bob@contoso.com"] { try await f.signIn(name, f.parameters()) }
            let question = GetCurrentAccount(clientID: try f.parameters().clientID)
            let error = await #expect(throws: TokenError.self) { try await f.agent.currentAccount(question) }
            #expect(error?.code == .ambiguousAccount)
        }
    }
}
