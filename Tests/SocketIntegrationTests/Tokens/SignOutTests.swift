internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// A sign-out is final, whatever is being redeemed or saved at the time.
@Suite(.bounded) struct SignOutTests {
    /// Two apps redeem: one's tokens are being written, the other waits for its turn. Both are removed.
    @Test(arguments: [RemoveAccount.Extent.account, .everything])
    func isNotUndoneByAWaitingRedemption(extent: RemoveAccount.Extent) async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { (f) async throws in
            let account = try await f.signIn("alice@contoso.com", f.parameters("app-1")).account.reference
            try await f.signIn("alice@contoso.com", f.parameters("app-2"))
            f.emulator.control.inject(.hold(grant: .refreshToken, count: 2))
            let renewals = ["app-1", "app-2"].map { app in
                Task { try await f.silent(f.parameters(app), account, force: true) }
            }
            await f.emulator.control.waitForHeld(atLeast: 2)
            disk.holdFlushes()
            f.emulator.control.release()
            try await disk.waitForHeldFlush()
            let peer = try await f.removing(account, extent)
            disk.releaseFlushes()
            #expect(try await peer.isRemoved())
            for renewal in renewals { _ = await renewal.result }
            try await f.expectNothing(of: account)
            try await f.restarted { (f) async throws in try await f.expectNothing(of: account) }
        }
    }

    /// Tokens that are in memory only, since the disk fails, are removed too.
    @Test func takesEffectInMemoryIfNothingCanBeWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { (f) async throws in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            // The first flush is that of the redemption note.
            disk.holdFlushes(after: 1)
            let renewal = Task { try await f.silent(f.parameters(scopes: ["Mail.Read"]), account) }
            try await disk.waitForHeldFlush()
            let peer = try await f.removing(account, .account)
            disk.fail(.sync)
            disk.releaseFlushes()
            #expect(try await !peer.isRemoved())
            await #expect(throws: TokenError.self) { try await renewal.value }
            try await f.expectNothing(of: account)
            disk.recover()
            // This commit writes the failed changes too.
            try await f.signIn("bob@contoso.com", f.parameters())
            try await f.restarted { (f) async throws in try await f.expectNothing(of: account) }
        }
    }

    /// The response to a redemption before the sign-out does not replace the tokens of a later sign-in.
    @Test func keepsALaterSignIn() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewal = Task { try await f.silent(f.parameters(), account, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let app = try f.parameters().clientID
            #expect(try await f.agent.removeAccount(RemoveAccount(clientID: app, account: account)).removed)
            try await f.signIn("alice@contoso.com", f.parameters())
            let newest = try await f.refreshTokens()
            f.emulator.control.release()
            #expect(try await !renewal.value.isFromCache)
            #expect(try await f.refreshTokens() == newest)
        }
    }

    /// A valid token is no fallback for a failed redemption once its account is removed.
    @Test func servesNoOldTokenWhenARedemptionFailsAfterIt() async throws {
        var settings = EmulatorSettings()
        settings.refreshIn = 60
        try await AgentFixture.with(settings: settings) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.clock.advance(by: 120)
            f.emulator.control.inject(
                Fault {
                    $0.hold = true
                    $0.grant = .refreshToken
                    $0.error = "temporarily_unavailable"
                })
            let renewal = Task { try await f.silent(f.parameters(), account) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let app = try f.parameters().clientID
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: app, account: account))
            f.emulator.control.release()
            await #expect(throws: TokenError.self) { try await renewal.value }
        }
    }
}

extension AgentFixture {
    /// Begins a removal, and returns when it has been applied in memory.
    fileprivate func removing(
        _ account: AccountReference, _ extent: RemoveAccount.Extent
    ) async throws -> RawPeer {
        let peer = try RawPeer(socketPath)
        let removal = RemoveAccount(clientID: try parameters().clientID, account: account, extent: extent)
        try peer.write(removal, id: 1)
        // The next request is answered after the removal has been applied.
        try peer.write(Hello(appName: "test"), id: 2)
        let first = try await offPool { try peer.reply()?.id }
        #expect(first == 2)
        return peer
    }

    fileprivate func expectNothing(of account: AccountReference) async throws {
        let everybody = ListAccounts(clientID: nil, homeAccountID: account.homeAccountID, onlySignedIn: false)
        #expect(try await agent.listAccounts(everybody).isEmpty)
        let credentials = try await agent.listCredentials(ListCredentials())
        #expect(credentials.allSatisfy { $0.account.homeAccountID != account.homeAccountID })
        for app in ["app-1", "app-2"] {
            let error = await #expect(throws: TokenError.self) { try await silent(parameters(app), account) }
            #expect(error?.code == .interactionRequired)
        }
    }

    /// The refresh tokens in the cache.
    fileprivate func refreshTokens() async throws -> Set<String> {
        try await agent.exportedRefreshTokens()
    }
}

extension RawPeer {
    /// Waits for the reply to a removal.
    fileprivate func isRemoved() async throws -> Bool {
        guard let frame = try await offPool({ try self.reply() }) else { return false }
        guard try frame.failure == nil else { return false }
        return try frame.reply(to: RemoveAccount.self).removed
    }
}
