internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel

/// `lock` and `unlock`.
@Suite(.bounded) struct LockTests {
    @Test func returnsNoTokenUntilThePassphraseIsEntered() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            _ = try await f.agent.setKey(SetKey(source: .passphrase, passphrase: Secret("correct horse")))
            let status = try await f.agent.lock()
            #expect(!status.isOpen)
            #expect(status.source == .passphrase)
            #expect(status.statement == "the store was locked" && status.nextCommand == "ssoctl unlock")
            #expect(status.problem == "the store was locked; run: ssoctl unlock", "as earlier versions show it")
            let failure = await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), account) }
            #expect(failure?.code == .storeUnavailable)
            #expect(failure?.message.contains("ssoctl unlock") == true)
            #expect(try await f.agent.status().accounts == 0)
            let locked = try await f.agent.status()
            #expect(locked.storeProblem?.contains("locked") == true && locked.nextCommand == "ssoctl unlock")
            for wrong in [nil, Secret("wrong horse")] {
                await #expect(throws: TokenError.self) { try await f.agent.unlock(Unlock(passphrase: wrong)) }
            }
            #expect(try await f.agent.unlock(Unlock(passphrase: Secret("correct horse"))).isOpen)
            #expect(try await f.silent(f.parameters(), account).isFromCache)
            #expect(try await f.agent.status().nextCommand == nil)
        }
    }

    /// The key is in a file, which the agent could read by itself.
    @Test func staysLockedUntilAnUnlock() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            _ = try await f.agent.lock()
            for _ in 0..<3 {
                f.clock.advance(by: 60)
                await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), account) }
            }
            await #expect(throws: TokenError.self) { try await f.agent.setKey(SetKey(source: .file)) }
            #expect(try await f.agent.lock().isOpen == false)
            #expect(try await f.agent.unlock(Unlock()).isOpen)
            #expect(try await f.silent(f.parameters(), account).isFromCache)
        }
    }

    @Test func renewsWithTheRotatedTokenAfterAnUnlock() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let renewal = AcquireTokenSilent(parameters: try f.parameters(), account: account, forceRefresh: true)
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let waiting = Task { try await f.agent.acquireTokenSilent(renewal) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let lock = Task { try await f.agent.lock() }
            // The response may come before the request to lock or after it.
            f.emulator.control.release()
            _ = try await waiting.value
            #expect(try await lock.value.isOpen == false)
            _ = try await f.agent.unlock(Unlock())
            #expect(try await !f.agent.acquireTokenSilent(renewal).isFromCache)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    @Test func endsSignIns() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let completion = CompleteInteractive(sessionID: begun.sessionID)
            let waiting = Task { try await f.agent.completeInteractive(completion) }
            _ = try await f.agent.lock()
            await #expect(throws: TokenError.self) { try await waiting.value }
            _ = try await f.agent.unlock(Unlock())
            try await f.signIn("alice@contoso.com", f.parameters())
        }
    }

    @Test func keepsWhatWasSavedOverARestartWhileLocked() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            _ = try await f.agent.lock()
            try await f.restarted { (f) async throws in
                #expect(try await f.silent(f.parameters(), account).isFromCache)
            }
        }
    }
}
