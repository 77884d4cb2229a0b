internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// Redemption notes: records of refresh tokens for which no response has arrived.
@Suite(.bounded) struct LostAnswerTests {
    /// The next commit deletes an older note, and must keep that of the redemption in progress.
    @Test func keepsTheNoteOfARedemptionThatFollowsAFailedCommit() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.renewUnsaved(account, disk)
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let lost = Task { try await f.silent(f.parameters(), account, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            try await f.timers.advance(by: 5)
            try await f.restarted { (f) async throws in
                #expect(try await f.lostAnswers() == 1)
                _ = await lost.result
                // The stored token is the one that was sent.
                _ = try await f.silent(f.parameters(), account, force: true)
                #expect(try await f.lostAnswers() == 0)
            }
        }
    }

    /// A retry does not overwrite tokens that were saved meanwhile.
    @Test func doesNotWriteOlderTokensOverNewerOnes() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            try await f.renewUnsaved(account, disk)
            disk.holdFlushes()
            let signIn = Task { try await f.signIn("alice@contoso.com", f.parameters()) }
            try await disk.waitForHeldFlush()
            try await f.timers.advance(by: 5)
            // The work of the timer has begun when this request is answered.
            _ = try await f.agent.status()
            disk.releaseFlushes()
            _ = try await signIn.value
            let newest = try await f.agent.exportedRefreshTokens()
            try await f.restarted { (f) async throws in #expect(try await f.agent.exportedRefreshTokens() == newest) }
        }
    }

    /// The response takes longer than a stop waits for other requests, and has the only refresh token that is still valid.
    @Test func waitsForTheResponseToATokenThatWasSentBeforeTheAgentStopped() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let account = signedIn.account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewal = Task { try await f.silent(f.parameters(), account, force: true) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            // It waits for the first one, with the same refresh token.
            let next = Task { try await f.silent(f.parameters(scopes: ["Mail.Read"]), account) }
            let timers = f.timers.count(dueAfter: 30)
            f.timers.skipDelays(upTo: 10)
            let stop = Task { await f.stop() }
            while f.timers.count(dueAfter: 30) == timers { await letOthersRun() }
            f.timers.skipDelays(upTo: 0)
            f.emulator.control.release()
            _ = await renewal.result
            await #expect(throws: TokenError.self) { try await next.value }
            await stop.value
            #expect(f.redemptions == 1)
            try await f.restarted { (f) async throws in
                #expect(try await f.lostAnswers() == 0)
                let token = try await f.silent(f.parameters(), account)
                #expect(token.isFromCache)
                #expect(token.accessToken != signedIn.accessToken)
            }
        }
    }

    @Test func reportsNoLostReplyForATokenThatWasNotSent() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            await f.goOffline()
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.code == .networkUnavailable)
            try await f.restarted { (f) async throws in #expect(try await f.lostAnswers() == 0) }
        }
    }

    /// The emulator has replaced the refresh token, and takes the old one for a stolen one from then on.
    @Test func sendsARefreshTokenOnceWhoseReplyIsLost() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.lostReply(.refreshToken))
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.code == .networkUnavailable)
            #expect(f.redemptions == 1)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    @Test func sendsAnAuthorizationCodeOnceWhoseReplyIsLost() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(.lostReply(.authorizationCode))
            let error = await #expect(throws: TokenError.self) {
                try await f.signIn("alice@contoso.com", f.parameters())
            }
            #expect(error?.code == .networkUnavailable)
            #expect(f.emulator.control.counts[.authorizationCode] == 1)
        }
    }

    @Test(arguments: [500, 502, 503, 504]) func takesAServerErrorForAReply(status: Int) async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.status(status, grant: .refreshToken))
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.details.httpStatus == Int32(status))
            #expect(f.redemptions == 1)
        }
    }

    @Test func reportsALostReply() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(
                Fault {
                    $0.endpoint = .token
                    $0.drop = true
                })
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account, force: true)
            }
            #expect(error?.code == .networkUnavailable)
            try await f.restarted { (f) async throws in #expect(try await f.lostAnswers() == 1) }
        }
    }
}

extension Fault {
    /// Redeems one grant, and closes the connection without a reply.
    fileprivate static func lostReply(_ grant: GrantType) -> Fault {
        Fault {
            $0.grant = grant
            $0.afterEffect = true
            $0.drop = true
        }
    }
}

extension AgentFixture {
    /// Renews an account's tokens while the disk is full, so that they are in memory only.
    fileprivate func renewUnsaved(_ account: AccountReference, _ disk: FaultyDisk) async throws {
        emulator.control.inject(.hold(grant: .refreshToken))
        let unsaved = Task { try await silent(parameters(), account, force: true) }
        await emulator.control.waitForHeld(atLeast: 1)
        disk.fail(.full)
        emulator.control.release()
        let error = await #expect(throws: TokenError.self) { try await unsaved.value }
        #expect(error?.code == .storeUnavailable)
        disk.recover()
    }

    /// The number of lost responses that `doctor` reports.
    fileprivate func lostAnswers() async throws -> Int {
        // The check describes the loaded store.
        _ = try await agent.listAccounts(ListAccounts(clientID: nil))
        let authority = try parameters().authority
        let checks = try await agent.diagnose(Diagnose(authority: authority)).checks
        let check = try #require(checks.first { $0.name == "store" })
        #expect(check.ok)
        guard let words = check.detail.split(separator: ";").last?.split(separator: " "),
            words.starts(with: ["no", "answer", "came", "to"])
        else { return 0 }
        return Int(words[4]) ?? -1
    }
}
