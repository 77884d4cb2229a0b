internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenStore
internal import TokenWire

/// Stores that cannot be opened at first, and keys that are lost.
@Suite(.bounded) struct OpeningTests {
    @Test func loadsTheStoreOnceTheObstacleIsRemoved() async throws {
        let credentials = try TemporaryFolder()
        let file = credentials.file("sso-agent.key")
        try "a key that a service manager gives".write(toFile: file, atomically: true, encoding: .utf8)
        let keys = KeySettings(credentialsDirectory: credentials.path)
        try await AgentFixture.with(keys: keys) { f in
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            #expect(rename(file, file + ".away") == 0)
            try await f.restarted(keys: keys) { (f) async throws in
                let error = await #expect(throws: TokenError.self) { try await f.silent(parameters, account) }
                #expect(error?.code == .storeUnavailable)
                #expect(error?.message.contains("tries again") == true)
                #expect(rename(file + ".away", file) == 0)
                // The load is not repeated for every request.
                await #expect(throws: TokenError.self) { try await f.silent(parameters, account) }
                f.clock.advance(by: 5)
                #expect(try await f.silent(parameters, account).isFromCache)
                #expect(try await f.agent.status().storeProblem == nil)
            }
        }
    }

    @Test func triesAPassphraseAfterTheOneBeforeItHasFailed() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            _ = try await f.agent.setKey(SetKey(source: .passphrase, passphrase: Secret("correct horse")))
            try await f.restarted { (f) async throws in
                let peer = try RawPeer(f.socketPath)
                try peer.write(Unlock(passphrase: Secret("wrong horse")), id: 1)
                try peer.write(Unlock(passphrase: Secret("correct horse")), id: 2)
                let replies = try await offPool { [try peer.reply(), try peer.reply()] }
                #expect(replies.map { $0?.id } == [1, 2])
                #expect(try replies[0]?.failure != nil)
                #expect(try replies[1]?.reply(to: Unlock.self).isOpen == true)
                #expect(try await f.silent(f.parameters(), account).isFromCache)
            }
        }
    }

    /// Otherwise any process of the user could unseal the store for its thief.
    @Test func changesTheKeyOfASealedStoreOnlyWithItsPassphrase() async throws {
        try await AgentFixture.with { f in
            let right = Secret("correct horse")
            _ = try await f.agent.setKey(SetKey(source: .passphrase, passphrase: right))
            for (current, reason) in [
                (nil, "only with that passphrase"), (Secret("wrong horse"), "not the passphrase"),
            ] {
                let refused = await #expect(throws: TokenError.self) {
                    try await f.agent.setKey(SetKey(source: .file, currentPassphrase: current))
                }
                #expect(refused?.code == .requestDenied && refused?.reason == .request)
                #expect(refused?.message.contains(reason) == true)
            }
            // Guessing is slow, and does not keep the store busy.
            let early = await #expect(throws: TokenError.self) {
                try await f.agent.setKey(SetKey(source: .file, currentPassphrase: right))
            }
            #expect(early?.message.contains("try again") == true && early?.reason == .request)
            #expect(try await f.agent.keyStatus().source == .passphrase)
            f.clock.advance(by: 5)
            #expect(try await f.agent.setKey(SetKey(source: .file, currentPassphrase: right)).source == .file)
        }
    }

    @Test func wipesAPassphraseThatDidNotOpenTheStore() async throws {
        try await AgentFixture.with { f in
            _ = try await f.agent.setKey(SetKey(source: .passphrase, passphrase: Secret("correct horse")))
            try await f.restarted(keys: KeySettings(passphrase: Secret("wrong horse"))) { (f) async throws in
                #expect(f.server.options.keys.passphrase == nil, "the options stay in memory")
                let everybody = ListAccounts(clientID: nil)
                let wrong = await #expect(throws: TokenError.self) { try await f.agent.listAccounts(everybody) }
                #expect(wrong?.message.contains("not the passphrase") == true)
                let none = await #expect(throws: TokenError.self) { try await f.agent.unlock(Unlock()) }
                #expect(none?.message.contains("is locked with a passphrase") == true)
                _ = try await f.agent.unlock(Unlock(passphrase: Secret("correct horse")))
                #expect(try await f.agent.listAccounts(everybody).isEmpty)
            }
        }
    }

    /// The running agent has the key in memory; the next start could not obtain it.
    @Test(arguments: [nil, "another"]) func reportsThatTheKeyIsMissing(other: String?) async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            #expect(try await f.keyCheck().ok)
            let file = f.folder.file("state/cache.key")
            try FileManager.default.removeItem(atPath: file)
            if other != nil {
                try await AgentFixture.with { other in
                    _ = try await other.agent.listAccounts(ListAccounts(clientID: nil))
                    try FileManager.default.copyItem(atPath: other.folder.file("state/cache.key"), toPath: file)
                }
            }
            let check = try await f.keyCheck()
            #expect(!check.ok)
            #expect(check.hint?.hasSuffix(": ssoctl key set file") == true)
            _ = try await f.agent.setKey(SetKey(source: .file))
            #expect(try await f.keyCheck().ok)
            try await f.restarted { (f) async throws in
                #expect(try await f.silent(f.parameters(), account).isFromCache)
            }
        }
    }
}

extension AgentFixture {
    fileprivate func keyCheck() async throws -> HealthCheck {
        let checks = try await agent.diagnose(Diagnose(authority: try parameters().authority)).checks
        return try #require(checks.first { $0.name == "key" })
    }
}
