internal import AgentTestSupport
internal import Dispatch
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenStore

/// A store whose file is damaged while the agent uses it.
@Suite(.bounded) struct LostRecordTests {
    private let folder: TemporaryFolder
    private let file: StoreFile

    init() throws {
        folder = try TemporaryFolder()
        file = StoreFile(folder.file("state/cache.sqlite"))
    }

    /// The request of one account finds the damage, and the tokens of others are lost, which are in memory.
    @Test func requiresNoSignInAfterAReadThatFindsDamage() async throws {
        try await run { (parts, _) async throws in try await parts.signIn("zoe", "zoe").value() }
        let recoverable = try file.records()
        try await run { (parts, _) async throws in
            for user in ["alice", "bob"] { try await parts.signIn(user, user).value() }
        }
        try await run { (parts, store) async throws in
            for user in ["alice", "bob"] { try await parts.acquire(.sample(user, force: false)).value() }
            try store.forgetPages()
            try file.damageRecords(except: recoverable)
            try file.damagePages()
            let zoe = try await parts.acquire(.sample("zoe", force: false)).value()
            #expect(zoe.accessToken == Secret("at-zoe") && zoe.isFromCache)
            #expect(store.report.losses == 1 && store.report.notices.count == 1)
            try await parts.waitUntilIdle()
            #expect(await !parts.hasUnsavedChanges)
        }
        try await run { (parts, store) async throws in
            #expect(store.report.notices.isEmpty)
            for user in ["alice", "bob", "zoe"] {
                let token = try await parts.acquire(.sample(user, force: false)).value()
                #expect(token.accessToken == Secret("at-\(user)") && token.isFromCache)
            }
            #expect(try await parts.refreshTokens() == ["rt-alice", "rt-bob", "rt-zoe"])
        }
    }

    /// Without its token in memory, an account has to sign in; the others do not.
    @Test func requiresASignInOfAnAccountWhoseTokensAreInTheStoreOnly() async throws {
        try await run { (parts, _) async throws in
            for user in ["alice", "bob"] { try await parts.signIn(user, user).value() }
        }
        try await run { (parts, store) async throws in
            try await parts.acquire(.sample("alice", force: false)).value()
            try store.forgetPages()
            try file.damageRecords()
            #expect(try await parts.acquire(.sample("bob", force: false)).error()?.code == .interactionRequired)
            try await parts.waitUntilIdle()
        }
        try await run { (parts, _) async throws in
            #expect(try await parts.acquire(.sample("alice", force: false)).value().accessToken == Secret("at-alice"))
            #expect(try await parts.acquire(.sample("bob", force: false)).error()?.code == .interactionRequired)
        }
    }

    /// Starts the agent's parts on the store, and stops them.
    private func run(_ body: (Parts, Store) async throws -> Void) async throws {
        let clock: Int64 = 1_800_000_000
        let store = try Store.open(directory: folder.file("state"), StoreOptions { clock })
        try await withCleanup {
            let parts = Parts(on: store)
            try await parts.loadStore().value()
            try await body(parts, store)
            try await parts.waitUntilIdle()
        } cleanUp: {
            await store.close()
        }
    }
}

extension Store {
    /// Drops SQLite's copies of pages, so that the next operation reads the file.
    fileprivate func forgetPages() throws(TokenError) {
        try queue.sync {
            withEngine { engine throws(TokenError) in
                try engine.database?.connection.execute("PRAGMA shrink_memory")
            }
        }.get()
    }
}
