internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore
internal import TokenWire

/// The durability of answered requests, and the behaviour when the disk fails.
@Suite(.bounded) struct DurabilityTests {
    @Test func answersNoRequestBeforeARotatedRefreshTokenIsDurable() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let reference = try await f.signIn("alice@contoso.com", parameters).account.reference
            // The first flush is that of the redemption note.
            disk.holdFlushes(after: 1)
            let peer = try RawPeer(f.socketPath)
            try peer.write(
                AcquireTokenSilent(parameters: parameters, account: reference, forceRefresh: true), id: 7)
            try await disk.waitForHeldFlush()
            #expect(f.redemptions == 1)
            // The agent answers a request that needs no disk; the reply to the redemption has not come before it.
            try peer.write(GetStatus(), id: 8)
            #expect(try await offPool { try peer.reply()?.id } == 8)
            disk.releaseFlushes()
            let reply = try #require(try await offPool { try peer.reply() })
            #expect(reply.id == 7)
            let renewed = try reply.reply(to: AcquireTokenSilent.self)
            try await f.restarted { (f) async throws in
                #expect(try await f.silent(parameters, reference).accessToken == renewed.accessToken)
                #expect(!(try await f.silent(parameters, reference, force: true).isFromCache))
            }
        }
    }

    @Test func sendsNoRefreshTokenIfItsResponseCouldNotBeStored() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            let reference = signedIn.account.reference
            disk.fail(.full)
            // Requests without a write are answered.
            #expect(try await f.silent(parameters, reference).accessToken == signedIn.accessToken)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).count == 1)
            let other = try f.parameters(scopes: ["Mail.Read"])
            let failure = await #expect(throws: TokenError.self) { try await f.silent(other, reference) }
            #expect(failure?.code == .storeUnavailable)
            #expect(failure?.message.contains("free some space") == true)
            #expect(f.redemptions == 0)
            #expect(try await f.agent.status().storeProblem?.contains("full") == true)
            let checks = try await f.agent.diagnose().checks
            #expect(checks.first { $0.name == "store" }?.ok == false)
            disk.recover()
            #expect(!(try await f.silent(other, reference).isFromCache))
            #expect(try await f.agent.status().storeProblem == nil)
        }
    }

    @Test func keepsASignInInMemoryUntilItCanBeWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            disk.fail(.write)
            let failure = await #expect(throws: TokenError.self) {
                try await f.signIn("bob@contoso.com", parameters)
            }
            #expect(failure?.code == .storeUnavailable)
            let bob = try #require(
                try await f.agent.listAccounts(ListAccounts(clientID: nil, username: "bob@contoso.com")).first?
                    .reference)
            #expect(try await f.silent(parameters, bob).isFromCache)
            #expect(try await f.agent.status().storeProblem != nil)
            disk.recover()
            // The next commit writes the failed changes too.
            _ = try await f.silent(parameters, alice, force: true)
            #expect(try await f.agent.status().storeProblem == nil)
            try await f.restarted { (f) async throws in
                #expect(try await f.silent(parameters, bob).isFromCache)
                #expect(!(try await f.silent(parameters, bob, force: true).isFromCache))
            }
        }
    }

    @Test func saysThatRemovedTokensAreStillOnTheDisk() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            disk.fail(.full)
            let failure = await #expect(throws: TokenError.self) {
                try await f.agent.removeAccount(
                    RemoveAccount(clientID: parameters.clientID, account: alice, extent: .account))
            }
            #expect(failure?.code == .storeUnavailable)
            #expect(failure?.message.contains("stays on the disk until") == true)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).isEmpty)
            disk.recover()
            // The next commit writes the removal too.
            _ = try await f.signIn("bob@contoso.com", parameters)
            try await f.restarted { (f) async throws in
                let accounts = try await f.agent.listAccounts(ListAccounts(clientID: nil))
                #expect(accounts.map(\.username) == ["bob@contoso.com"])
            }
        }
    }

    /// Whoever gets a copy of the folder later, with its key, gets no token of an account that is signed out.
    @Test func hasNothingInItsLogAfterASignOut() async throws {
        try await AgentFixture.with { f in
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            let log = URL(filePath: f.folder.file("state/cache.sqlite-wal"))
            #expect(try !Data(contentsOf: log).isEmpty)
            let request = RemoveAccount(clientID: parameters.clientID, account: alice)
            #expect(try await f.agent.removeAccount(request).removed)
            #expect(try Data(contentsOf: log).isEmpty)
        }
    }

    @Test func writesRecordsAgainThatTheStoreHasLost() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            let bob = try await f.signIn("bob@contoso.com", parameters).account.reference
            for name in ["cache.sqlite", "cache.sqlite-wal"] { truncate(f.folder.file("state/\(name)"), 4096) }
            disk.findDamage()
            #expect(!(try await f.silent(parameters, alice, force: true).isFromCache))
            #expect(disk.failed == 1)
            #expect(try await f.agent.status().quarantined.count == 1)
            try await f.restarted { (f) async throws in
                for reference in [alice, bob] {
                    #expect(try await f.silent(parameters, reference).isFromCache)
                    #expect(!(try await f.silent(parameters, reference, force: true).isFromCache))
                }
            }
        }
    }

    /// The file is damaged when an import of some of the account's tokens writes it. The others are in memory only, and stay there.
    @Test func writesRecordsAgainThatAnImportFindsLost() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let parameters = try f.parameters()
            let alice = try await f.signIn("alice@contoso.com", parameters).account.reference
            let export = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            for credential in try await f.agent.listCredentials(ListCredentials()) where credential.kind == .accessToken
            {
                _ = try await f.agent.removeCredential(RemoveCredential(id: credential.id))
            }
            for name in ["cache.sqlite", "cache.sqlite-wal"] { truncate(f.folder.file("state/\(name)"), 4096) }
            disk.findDamage()
            let report = try await f.agent.importCache(export, format: .msalJSON)
            #expect(report.accessTokens == 1 && report.refreshTokens == 0)
            #expect(disk.failed == 1)
            #expect(try await f.silent(parameters, alice).isFromCache)
            try await f.restarted { (f) async throws in
                #expect(try await f.silent(parameters, alice).isFromCache)
                #expect(!(try await f.silent(parameters, alice, force: true).isFromCache))
            }
        }
    }

    @Test func storesTheAuthoritiesOfConcurrentSignIns() async throws {
        try await AgentFixture.with { f in
            let first = try f.parameters(realm: "contoso.com")
            let second = try f.parameters(scopes: ["Mail.Read"], realm: "fabrikam.com")
            let names = (1...3).map { "user\($0)@contoso.com" }
            f.emulator.control.inject(
                Fault {
                    $0.hold = true
                    $0.grant = .authorizationCode
                    $0.count = 2 * names.count
                })
            try await withThrowingTaskGroup { group in
                for name in names {
                    group.addTask { _ = try await f.signIn(name, first) }
                    group.addTask { _ = try await f.signIn(name, second) }
                }
                await f.emulator.control.waitForHeld(atLeast: 2 * names.count)
                f.emulator.control.release()
                try await group.waitForAll()
            }
            for name in names {
                let account = AccountReference(username: name)
                #expect(try await f.silent(first, account).isFromCache, "\(name)")
                #expect(try await f.silent(second, account).isFromCache, "\(name)")
            }
        }
    }

    @Test func answersRequestsThatNeedNoCacheDuringTheLoad() async throws {
        let folder = try TemporaryFolder()
        let tool = try await folder.makeProgram(
            "secret-tool",
            """
            case $1 in
            store) cat >"\(folder.file("secret"))" ;;
            lookup)
                [ -e "\(folder.file("gate"))" ] && cat "\(folder.file("gate"))" >/dev/null
                cat "\(folder.file("secret"))" ;;
            esac
            """)
        let keys = KeySettings(secretTool: tool)
        try await AgentFixture.with(keys: keys) { f in
            let parameters = try f.parameters()
            let signedIn = try await f.signIn("alice@contoso.com", parameters)
            #expect(try await f.agent.setKey(SetKey(source: .secretService)).source == .secretService)
            // The keyring does not answer until the test writes to the pipe.
            mkfifo(folder.file("gate"), 0o600)
            try await f.restarted(keys: keys) { (f) async throws in
                // A status request waits for the load, with a time-out.
                f.timers.skipDelays(upTo: 1)
                async let token = f.silent(parameters, signedIn.account.reference)
                #expect(try await f.agent.status().accounts == 0)
                #expect(try await f.agent.keyStatus().isOpen == false)
                try await offPool { try Data("go".utf8).write(to: URL(filePath: folder.file("gate"))) }
                #expect(try await token.accessToken == signedIn.accessToken)
                // The token may have come before the rest of the store.
                #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil)).count == 1)
                #expect(try await f.agent.keyStatus().isOpen)
                try FileManager.default.removeItem(atPath: folder.file("gate"))
            }
        }
    }

    private struct Unexpected: Error {}
}
