internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// A redemption beside other requests and imports.
@Suite(.bounded) struct ConcurrentRedemptionTests {
    private let parts = Parts()

    @Test func neverSendsOneTokenTwiceAtTheSameTime() async throws {
        try await parts.signIn("alice", "1").value()
        let first = await parts.acquire(.sample("alice", .sample(["Mail.Read"])))
        let redemption = await parts.provider.redemptions.next()
        let second = await parts.acquire(.sample("alice", .sample(["Files.Read"])))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        try await first.value()
        // The second redemption sends the token that the first one has saved.
        let next = await parts.provider.redemptions.next()
        #expect(next.token == "rt-2")
        next.answer(.sample("alice", "3"))
        try await second.value()
        #expect(parts.store.refreshTokens == ["rt-3"])
        #expect(parts.store.notes == 0)
    }

    @Test func redeemsTokensOfTwoAccountsAtTheSameTime() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.signIn("bob", "2").value()
        let requests = [await parts.acquire(.sample("alice")), await parts.acquire(.sample("bob"))]
        let redemptions = [await parts.provider.redemptions.next(), await parts.provider.redemptions.next()]
        #expect(Set(redemptions.map(\.token)) == ["rt-1", "rt-2"])
        for redemption in redemptions {
            redemption.answer(redemption.token == "rt-1" ? .sample("alice", "3") : .sample("bob", "4"))
        }
        for request in requests { try await request.value() }
        #expect(parts.store.refreshTokens == ["rt-3", "rt-4"])
    }

    @Test func waitsWithAnAppsGrantForTheSameCachedToken() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let grant = await parts.redeem(
            RedeemGrant(parameters: .sample(), kind: .refreshToken, grant: Secret("rt-1")))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        redemption.answer(.sample("alice", "2"))
        try await request.value()
        await parts.provider.redemptions.next().fail(.invalidGrant)
        #expect(try await grant.error()?.code == .interactionRequired)
        #expect(try await parts.refreshTokens() == ["rt-2"])
    }

    /// A lock waits for the response to what has been sent, not for what waits behind it.
    @Test func sendsNoWaitingGrantAfterALock() async throws {
        try await parts.loadStore().value()
        var grants: [Pending<TokenResult>] = []
        for _ in 0..<3 {
            grants.append(
                await parts.redeem(
                    RedeemGrant(parameters: .sample(), kind: .refreshToken, grant: Secret("rt-1"))))
        }
        let sent = await parts.provider.redemptions.next()
        try await parts.settle()
        let lock = await parts.lock()
        try await parts.settle()
        sent.fail(.invalidGrant)
        try await lock.value()
        #expect(try await grants[0].error()?.code == .interactionRequired)
        for waiting in grants.dropFirst() { #expect(try await waiting.error()?.message.contains("locked") == true) }
        #expect(parts.provider.redemptions.count == 0)
    }

    /// The grant was begun before the lock, and its provider becomes known after it.
    @Test func sendsNoGrantWhoseAuthorityIsResolvedAfterALock() async throws {
        try await parts.loadStore().value()
        let parameters = TokenParameters.sample(authority: try Authority("https://login.example.com/common"))
        let grant = await parts.redeem(
            RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("rt-1")))
        let discovery = await parts.provider.discoveries.next()
        let lock = await parts.lock()
        try await parts.settle()
        discovery.answer([
            CloudDirectory.Cloud(
                aliases: ["login.example.com"], preferredNetwork: "login.example.com",
                preferredCache: "login.example.com")
        ])
        try await parts.settle()
        try #require(parts.provider.redemptions.count == 0)
        #expect(try await grant.error()?.message.contains("locked") == true)
        try await lock.value()
    }

    /// The sign-in is being saved when the request is decided, and is visible when the note of the token before it is durable.
    @Test func sendsTheTokenOfASignInThatHasBeenSavedBeforeTheNote() async throws {
        try await parts.signIn("alice", "1").value()
        parts.store.hold()
        let signIn = await parts.signIn("alice", "2")
        let saving = await parts.store.commits.next()
        let request = await parts.acquire(.sample("alice"))
        let note = await parts.store.commits.next()
        parts.store.hold(false)
        saving.succeed()
        try await signIn.value()
        note.succeed()
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        #expect(parts.store.notes == 1)
        redemption.answer(.sample("alice", "3"))
        #expect(try await request.value().accessToken == Secret("at-3"))
        #expect(parts.store.refreshTokens == ["rt-3"])
        #expect(parts.store.notes == 0)
    }

    @Test func redeemsDuringAnImportButCommitsAfterIt() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let gate = Mailbox<Void>()
        let importing = await parts.start { parts async throws(TokenError) in
            await parts.core.commits.exclusivelyWait(for: gate)
        }
        redemption.answer(.sample("alice", "2"))
        try await parts.settle()
        #expect(!request.isDone)
        #expect(parts.store.refreshTokens == ["rt-1"])
        gate.put(())
        try await importing.value()
        try await request.value()
        #expect(parts.store.refreshTokens == ["rt-2"])
    }

    /// A redemption alone does not wait for others to commit, and the more there are, the longer they do.
    @Test func gathersTheCommitsOfSeveralRedemptions() async throws {
        let users = (1...200).map { "user-\($0)" }
        for user in users { try await parts.signIn(user, user).value() }
        var requests: [Pending<TokenResult>] = []
        var redemptions: [ScriptedProvider.Redemption] = []
        for user in users {
            requests.append(await parts.acquire(.sample(user)))
            redemptions.append(await parts.provider.redemptions.next())
        }
        let windows = parts.store.windows.suffix(users.count)
        #expect(parts.store.windows.dropLast(users.count - 1).allSatisfy { $0 == .zero })
        #expect(zip(windows, windows.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(windows.last.map { $0 > .milliseconds(20) && $0 < .milliseconds(50) } == true)
        for (user, redemption) in zip(users, redemptions) { redemption.answer(.sample(user, "next-\(user)")) }
        for request in requests { try await request.value() }
    }

    @Test func sendsNothingDuringAnImport() async throws {
        try await parts.signIn("alice", "1").value()
        let gate = Mailbox<Void>()
        let importing = await parts.start { parts async throws(TokenError) in
            await parts.core.commits.exclusivelyWait(for: gate)
        }
        let request = await parts.acquire(.sample("alice"))
        try await parts.settle()
        #expect(parts.provider.redemptions.count == 0)
        gate.put(())
        try await importing.value()
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await request.value()
    }
}

extension CommitQueue {
    /// Runs exclusively, as an import does, until the test opens the gate.
    fileprivate func exclusivelyWait(for gate: Mailbox<Void>) async {
        try? await exclusively { () async throws(TokenError) in await gate.next() }
    }
}
