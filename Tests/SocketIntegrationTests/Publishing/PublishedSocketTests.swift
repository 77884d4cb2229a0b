internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Published sockets, as the programs that connect to them see them.
@Suite(.bounded) struct PublishedSocketTests {
    @Test func servesTheAllowedTokensAndNothingElse() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            try await f.published(scopes: ["User.Read"]) { client in
                #expect(try await f.token(client, f.parameters(), alice).isFromCache)
                #expect(try await f.token(client, f.parameters()).account.homeAccountID == alice.homeAccountID)
                await f.expectDenied(client, try f.parameters("app-2"), alice)
                await f.expectDenied(client, try f.parameters(scopes: ["Mail.Read"]), alice)
                await f.expectDenied(client, try f.parameters(scopes: []), alice)
                await f.expectDenied(client, try f.parameters(scopes: ["offline_access"]), alice)
                await f.expectDenied(client, try f.parameters(resource: "https://graph.microsoft.com"), alice)
                #expect(f.redemptions == 0)
                let current = GetCurrentAccount(clientID: try f.parameters("app-2").clientID)
                let error = await #expect(throws: TokenError.self) { try await client.currentAccount(current) }
                #expect(error?.code == .requestDenied)
            }
        }
    }

    @Test func servesSixRequests() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published { client in
                let served: Set<UInt32> = [10, 11, 17, 19, 24, 41]
                #expect(Set(try await client.hello(Hello(appName: "test")).requests) == served)
                let all = try await f.agent.hello(Hello(appName: "test")).requests
                for number in all where !served.contains(number) {
                    // A request without fields. Whether its fields are right does not matter.
                    let reply = try await offPool {
                        let peer = try RawPeer(client.socketPath)
                        peer.write(Self.emptyRequest(number))
                        return try peer.reply()
                    }
                    #expect(try reply?.failure?.code == .requestDenied, "request \(number)")
                }
                #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).count == 1)
            }
        }
    }

    /// The frame of a request whose message has no fields.
    private static func emptyRequest(_ number: UInt32) -> [UInt8] {
        let tag = number << 3 | 2
        let body = [0x08, 0x01] + (tag < 128 ? [UInt8(tag)] : [UInt8(tag & 0x7F | 0x80), UInt8(tag >> 7)]) + [0]
        return [0, 0, 0, UInt8(body.count)] + body
    }

    @Test func saysOfTheAgentOnlyWhetherItServes() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published { client in
                let status = try await client.status()
                #expect(status.socketPath == client.socketPath && status.stateDirectory.isEmpty)
                #expect(status.processID == 0 && status.accounts == 0 && status.uptimeSeconds == 0)
                #expect(status.publishedSockets == [] && status.quarantined == [] && status.storeProblem == nil)
                #expect(try await f.agent.status().publishedSockets == [client.socketPath])
            }
        }
    }

    // MARK: Results

    /// A token in the cache answers requests for some of its scopes.
    @Test func servesNoCachedTokenWithFurtherScopes() async throws {
        try await AgentFixture.with { f in
            let wide = try f.parameters(scopes: ["User.Read", "Mail.Read"])
            let alice = try await f.signIn("alice@contoso.com", wide).account.reference
            try await f.published(scopes: ["User.Read"]) { client in
                await f.expectDenied(client, try f.parameters(), alice)
                #expect(f.redemptions == 0)
            }
            try await f.published(scopes: ["User.Read", "Mail.Read"]) { client in
                let token = try await f.token(client, f.parameters(), alice)
                #expect(token.isFromCache)
            }
        }
    }

    /// The agent keeps the replies to requests that are repeated at its own socket.
    @Test func servesNoReplyThatIsKeptForTheOwnSocket() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.published(scopes: ["Mail.Read"]) { client in
                for _ in 0..<3 {
                    #expect(try await f.token(f.agent, f.parameters(), alice).isFromCache)
                    await f.expectDenied(client, try f.parameters(), alice)
                }
            }
        }
    }

    /// An identity provider may grant everything that was consented to.
    @Test func servesNoRedeemedTokenWithFurtherScopes() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.settings.tokenReply = ["scope": "User.Read Files.ReadWrite.All"]
            f.clock.advance(by: 4000)
            try await f.published(scopes: ["User.Read"]) { client in
                await f.expectDenied(client, try f.parameters(), alice)
                #expect(f.redemptions == 1)
            }
        }
    }

    @Test func renewsATokenThatHasExpired() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.clock.advance(by: 4000)
            try await f.published { client in
                let renewed = try await f.token(client, f.parameters(), alice)
                #expect(!renewed.isFromCache && f.redemptions == 1)
                #expect(try await f.token(client, f.parameters(), alice).isFromCache)
            }
        }
    }

    @Test(arguments: ["force_refresh", "expiration_buffer", "claims", "capabilities", "extra_parameters"])
    func renewsNoTokenBeforeItExpires(field: String) async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.published { client in
                var request = AcquireTokenSilent(parameters: try f.parameters(), account: alice)
                switch field {
                case "force_refresh": request.forceRefresh = true
                case "expiration_buffer": request.expirationBuffer = 4_000_000_000
                case "claims": request.parameters.claims = #"{"access_token":{"nbf":null}}"#
                case "capabilities": request.parameters.capabilities = ["cp1"]
                default: request.parameters.extraParameters = ["scope": "Mail.Read"]
                }
                let error = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(request) }
                #expect(error?.code == .requestDenied)
                #expect(f.redemptions == 0)
            }
        }
    }

    /// A resource is published for both generations.
    @Test func servesAResource() async throws {
        try await AgentFixture.with { f in
            let resource = "https://graph.microsoft.com"
            let v1 = try f.parameters(resource: resource)
            let alice = try await f.signIn("alice@contoso.com", v1).account.reference
            try await f.published(scopes: ScopeSet(resource: resource).scopes) { client in
                #expect(try await f.token(client, v1, alice).isFromCache)
                let v2 = try f.parameters(scopes: ["\(resource)/.default"])
                #expect(try await !f.token(client, v2, alice).accessToken.isEmpty)
                await f.expectDenied(client, try f.parameters(resource: "https://other.example"), alice)
                await f.expectDenied(client, try f.parameters(resource: "\(resource)/"), alice)
                await f.expectDenied(client, try f.parameters(scopes: ["\(resource)/User.Read"]), alice)
                await f.expectDenied(client, try f.parameters(), alice)
            }
        }
    }

    // MARK: Accounts

    @Test func servesItsAccountOnly() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let bob = try await f.signIn("bob@fabrikam.com", f.parameters()).account.reference
            for name in ["ALICE@contoso.com", alice.homeAccountID?.text] {
                try await f.published(account: name) { client in
                    #expect(try await f.token(client, f.parameters()).account.username == "alice@contoso.com")
                    let named = AccountReference(username: "Alice@Contoso.com")
                    #expect(try await f.token(client, f.parameters(), named).isFromCache)
                    await f.expectDenied(client, try f.parameters(), bob)
                    await f.expectDenied(client, try f.parameters(), AccountReference(username: "bob@fabrikam.com"))
                    let listed = try await client.listAccounts(ListAccounts(clientID: ClientID("app-1")))
                    #expect(listed.count == 1 && listed.first?.username == "alice@contoso.com")
                    #expect(
                        try await client.listAccounts(
                            ListAccounts(clientID: ClientID("app-1"), homeAccountID: bob.homeAccountID)
                        ).isEmpty)
                    let current = try await client.currentAccount(
                        GetCurrentAccount(clientID: try #require(ClientID("app-1"))))
                    #expect(current.account?.username == "alice@contoso.com" && current.previous == nil)
                }
            }
            // Without an account, two are as ambiguous as they are for the user's own apps.
            try await f.published { client in
                let error = await #expect(throws: TokenError.self) { try await f.token(client, f.parameters()) }
                #expect(error?.code == .ambiguousAccount)
                let token = try await f.token(client, f.parameters(), bob)
                #expect(token.isFromCache)
            }
        }
    }

    /// What the user's own app is told must not depend on a stranger.
    @Test func recordsNoCurrentAccount() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            let request = GetCurrentAccount(clientID: try #require(ClientID("app-1")))
            try await f.published { client in
                let first = try await client.currentAccount(request)
                #expect(first.account != nil)
                #expect(try await f.agent.currentAccount(request).previous == nil)
                #expect(try await client.currentAccount(request).previous == nil)
            }
        }
    }

    /// A guest of another tenant gets tokens there too, with the same refresh token.
    @Test func servesTheHomeTenantUnlessAnAuthorityIsNamed() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let guest = try f.parameters(realm: "fabrikam.com")
            #expect(try await f.silent(guest, alice).tenantProfile?.isHome == false)
            for account in ["alice@contoso.com", nil] {
                try await f.published(account: account) { client in
                    await f.expectDenied(client, guest, alice)
                    await f.expectDenied(client, guest, AccountReference(username: "alice@contoso.com"))
                    let home = try f.parameters(realm: try #require(alice.homeAccountID?.tenantID))
                    #expect(try await !f.token(client, home, alice).accessToken.isEmpty)
                    let listed = try await client.listAccounts(ListAccounts(clientID: ClientID("app-1")))
                    let foreign = listed.flatMap(\.tenantProfiles).filter { !$0.isHome }
                    #expect(foreign.isEmpty)
                }
            }
            try await f.published(authorities: [guest.authority]) { client in
                #expect(try await f.token(client, guest, alice).isFromCache)
                await f.expectDenied(client, try f.parameters(), alice)
            }
        }
    }

    /// A family refresh token makes another app usable that is not published.
    @Test func servesNoOtherAppOfAFamily() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = ["app-1": "1", "app-2": "1"]
        try await AgentFixture.with(settings: settings) { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.published { client in
                await f.expectDenied(client, try f.parameters("app-2"), alice)
                let error = await #expect(throws: TokenError.self) {
                    try await client.listAccounts(ListAccounts(clientID: ClientID("app-2")))
                }
                #expect(error?.code == .requestDenied)
                #expect(f.redemptions == 0)
            }
        }
    }

    /// The user's own app is presumed to be in the family of the app that signed in.
    @Test func listsNoAccountsOfAFamilyForAnAppThatIsNoKnownMember() async throws {
        var settings = EmulatorSettings()
        settings.familyApps = ["app-2": "1"]
        try await AgentFixture.with(settings: settings) { f in
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            let list = ListAccounts(clientID: ClientID("app-1"))
            #expect(try await f.agent.listAccounts(list).count == 1)
            try await f.published { client in
                #expect(try await client.listAccounts(list).isEmpty)
                let current = GetCurrentAccount(clientID: try #require(ClientID("app-1")))
                #expect(try await client.currentAccount(current).account == nil)
                let alice = AccountReference(username: "alice@contoso.com")
                let error = await #expect(throws: TokenError.self) { try await f.token(client, f.parameters(), alice) }
                #expect(error?.code == .interactionRequired && error?.details.username == nil)
                #expect(f.redemptions == 0)
            }
        }
    }

    /// A list continues at an account, which may be one of another app.
    @Test func namesNoAccountInThePositionOfAList() async throws {
        let count = 510
        try await AgentFixture.with { f in
            // Accounts of a family, which are examined for every app, and one of app-1 among them.
            try await f.importAccounts(count, of: "app-2", family: "1")
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published { client in
                let request = ListAccounts(clientID: ClientID("app-1"))
                let first = try await offPool {
                    let peer = try RawPeer(client.socketPath)
                    try peer.write(request)
                    return try peer.reply()?.reply(to: ListAccounts.self)
                }
                let next = try #require(first?.next)
                #expect(!next.contains("user") && Int(next) != nil)
                #expect(try await client.listAccounts(request).map(\.username) == ["alice@contoso.com"])
                // A name that was never given starts the list again.
                let other = try await client.listAccounts(
                    ListAccounts(clientID: ClientID("app-1"), after: "name:user-1"))
                #expect(other.count == 1)
            }
        }
    }

    // MARK: The end

    @Test func endsWithItsTime() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published(lifetime: 600) { client in
                let idle = try RawPeer(client.socketPath)
                #expect(try await idle.ask(GetStatus()) != nil)
                f.clock.advance(by: 599)
                #expect(try await f.token(client, f.parameters()).isFromCache)
                f.clock.advance(by: 1)
                try await f.timers.advance(by: 600)
                try await offPool { idle.waitUntilClosed() }
                #expect(try await f.agent.listSockets().isEmpty)
                let error = await #expect(throws: TokenError.self) { try await f.token(client, f.parameters()) }
                #expect(error?.code == .agentUnavailable)
                // The removal of the file is queued behind that of the first one.
                try await f.published(file: "next.sock") { _ in }
                #expect(!FileManager.default.fileExists(atPath: client.socketPath))
            }
        }
    }

    @Test func closesItsConnectionsWhenItIsUnpublished() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.clock.advance(by: 4000)
            try await f.published(label: "build") { client in
                f.emulator.control.inject(.hold(grant: .refreshToken))
                let peer = try RawPeer(client.socketPath)
                try peer.write(AcquireTokenSilent(parameters: try f.parameters(), account: alice))
                await f.emulator.control.waitForHeld(atLeast: 1)
                #expect(try await f.agent.listSockets().first?.connections == 1)
                #expect(try await f.agent.unpublishSocket(UnpublishSocket(name: "build")) == "build")
                f.emulator.control.release()
                #expect(try await offPool { try peer.reply() } == nil)
                #expect(!FileManager.default.fileExists(atPath: client.socketPath))
                #expect(try await f.agent.unpublishSocket(UnpublishSocket(name: "build")) == nil)
            }
            // The refresh token was redeemed once, and its response is saved nevertheless.
            _ = try await f.silent(f.parameters(), alice)
            #expect(f.redemptions == 1)
        }
    }

    @Test func servesNothingWhileTheStoreIsLockedOrTheAppIsSignedOut() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.published { client in
                _ = try await f.agent.lock()
                let locked = await #expect(throws: TokenError.self) { try await f.token(client, f.parameters(), alice) }
                #expect(locked?.code == .storeUnavailable)
                #expect(try await client.status().storeProblem != nil)
                _ = try await f.agent.unlock(Unlock())
                #expect(try await f.token(client, f.parameters(), alice).isFromCache)
                _ = try await f.agent.removeAccount(
                    RemoveAccount(clientID: try #require(ClientID("app-1")), account: alice))
                let gone = await #expect(throws: TokenError.self) { try await f.token(client, f.parameters(), alice) }
                #expect(gone?.code == .interactionRequired)
                #expect(try await client.listAccounts(ListAccounts(clientID: ClientID("app-1"))).isEmpty)
            }
        }
    }

    @Test func endsWithTheAgent() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published { client in
                try await f.restarted { restarted in
                    #expect(!FileManager.default.fileExists(atPath: client.socketPath))
                    let sockets = try await restarted.agent.listSockets()
                    #expect(sockets.isEmpty)
                    #expect(try await restarted.agent.status().publishedSockets.isEmpty)
                }
            }
        }
    }
}
