internal import Foundation
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel

@testable internal import TokenAgent

/// A sign-out of very many accounts with one name is divided into turns of the event loop, and is acknowledged as a whole.
@Suite(.bounded) struct DividedRemovalTests {
    private static let limit = PendingRemoval.dividedAccounts
    private static let part = PendingRemoval.accountsOfPart

    private let parts = Parts()

    /// Each part is one change of the cache.
    @Test(arguments: [(limit - 1, 1), (limit, limit / part), (limit + 1, limit / part + 1)])
    func removesAFewAccountsInEachTurn(accounts: Int, turns: Int) async throws {
        try await parts.signInNamesakes(accounts)
        let before = await parts.changeCount
        parts.store.hold()
        let removal = await parts.signOutNamesakes()
        let deletion = await parts.store.commits.next()
        #expect(try await parts.refreshTokens() == [], "removed before the deletion is durable")
        #expect(await parts.changeCount - before == turns)
        #expect(!removal.isDone)
        deletion.succeed()
        #expect(try await removal.value())
        #expect(parts.store.refreshTokens == [])
        #expect(parts.store.commits.count == 0, "one commit for all")
    }

    @Test func signsAnAppOutOfAllAccounts() async throws {
        try await parts.signInNamesakes(Self.limit)
        #expect(try await parts.signOutNamesakes(.app).value())
        #expect(try await parts.refreshTokens() == [])
        #expect(await parts.listedAccounts(of: .sample) == 0)
        #expect(await parts.listedAccounts(of: nil) > 0)
        #expect(try await !parts.signOutNamesakes(.app).value(), "nothing is left to remove")
    }

    /// The cache does not have the account when the sign-out begins.
    @Test func removesAnAccountWhoseCommitBeganBefore() async throws {
        try await parts.signInNamesakes(Self.limit)
        parts.store.hold()
        let saving = await parts.signInNamesake(Self.limit)
        let commit = await parts.store.commits.next()
        let removal = await parts.signOutNamesakes()
        try await parts.settle()
        commit.succeed()
        try await saving.value()
        let deletion = await parts.store.commits.next()
        #expect(try await parts.refreshTokens() == [])
        deletion.succeed()
        #expect(try await removal.value())
        #expect(parts.store.refreshTokens == [])
    }

    /// The success of a removal says that the tokens are gone for good, whichever removal has removed them.
    @Test func acknowledgesALaterRemovalThatFindsNothingAfterIt() async throws {
        try await parts.signInNamesakes(Self.limit)
        parts.store.hold()
        let removals = await parts.signOutNamesakes(andThen: "0")
        let deletion = await parts.store.commits.next()
        #expect(!removals.one.isDone)
        deletion.succeed()
        #expect(try await removals.all.value())
        #expect(try await !removals.one.value(), "the first one has removed it")
        #expect(parts.store.refreshTokens == [])
    }

    /// Its success says that all accounts are gone for good, also one that a later removal has removed before its turn came.
    @Test func writesWhatALaterRemovalHasRemovedBeforeIt() async throws {
        try await parts.signInNamesakes(Self.limit)
        parts.store.hold()
        let removals = await parts.signOutNamesakes(andThen: "\(Self.limit - 1)")
        let deletion = await parts.store.commits.next()
        deletion.succeed()
        #expect(try await removals.all.value())
        #expect(parts.store.refreshTokens == [])
        await parts.store.commits.next().succeed()
        #expect(try await removals.one.value())
    }

    /// The disk may not end the earlier one.
    @Test func removesFromMemoryWhileAnEarlierRemovalIsWritten() async throws {
        try await parts.signInNamesakes(Self.limit)
        try await parts.signIn("bob", "bob").value()
        parts.store.hold()
        let first = await parts.signOut("bob")
        let deletion = await parts.store.commits.next()
        let all = await parts.signOutNamesakes()
        while try await !parts.refreshTokens().isEmpty { try await parts.settle() }
        #expect(!first.isDone && !all.isDone)
        parts.store.hold(false)
        deletion.succeed()
        #expect(try await first.value())
        #expect(try await all.value())
        #expect(parts.store.refreshTokens == [])
    }

    /// The lock empties the cache, in which the rest of the removal would find nothing.
    @Test func isWrittenBeforeALockThatBeginsMeanwhile() async throws {
        try await parts.loadStore().value()
        try await parts.signInNamesakes(Self.limit)
        let begun = await parts.signOutNamesakesAndLock()
        #expect(try await begun.removal.value())
        try await begun.lock.value()
        #expect(parts.store.locks == 1)
        #expect(parts.store.refreshTokens == [])
    }

    @Test func tellsSubscribersOnceAndWhenItIsDurable() async throws {
        try await parts.signInNamesakes(Self.limit)
        let events = try await parts.waitForEvents()
        parts.store.hold()
        let removal = await parts.signOutNamesakes()
        let deletion = await parts.store.commits.next()
        try await parts.settle()
        #expect(!events.isDone)
        deletion.succeed()
        try await removal.value()
        #expect(try await events.value().events.map(\.kind) == [.resynchronise])
        #expect(await parts.surveyCount == 0)
    }
}

extension Parts {
    private static let name = "shared@contoso.com"

    fileprivate var changeCount: Int { core.memory.changeCount }

    fileprivate var surveyCount: Int { core.events.surveyCount }

    fileprivate func signInNamesakes(_ count: Int) async throws {
        for number in 0..<count { try await signInNamesake(number).value() }
    }

    fileprivate func signInNamesake(_ number: Int) -> Pending<TokenResult> {
        let claims =
            "{\"oid\":\"\(number)\",\"preferred_username\":\"\(Self.name)\",\"sub\":\"\(number)\",\"tid\":\"tenant\"}"
        let tokens = IssuedTokens(
            accessToken: Secret("at-\(number)"), refreshToken: Secret("rt-\(number)"),
            idToken: "e30.\(Base64URL.encode(Data(claims.utf8))).", homeAccountID: .sample("\(number)"))
        return start { parts async throws(TokenError) in
            let parameters = TokenParameters.sample()
            return try await parts.core.saver.save(tokens, from: .signIn, parameters, at: parameters.authority)
        }
    }

    fileprivate func signOutNamesakes(_ extent: RemoveAccount.Extent = .account) -> Pending<Bool> {
        let request = RemoveAccount(
            clientID: .sample, account: AccountReference(username: Self.name), extent: extent)
        let begun = core.removals.begin(removing: request)
        return start { parts async throws(TokenError) in
            guard let begun else { return false }
            return try await parts.core.removals.finish(begun)
        }
    }

    /// Signs out, and one of the users once more after the first part.
    fileprivate func signOutNamesakes(andThen user: String) -> (all: Pending<Bool>, one: Pending<Bool>) {
        let request = RemoveAccount(clientID: .sample, account: .sample(user), extent: .account)
        let all = signOutNamesakes()
        let one = start { parts async throws(TokenError) in
            guard let begun = parts.core.removals.begin(removing: request) else { return false }
            return try await parts.core.removals.finish(begun)
        }
        return (all, one)
    }

    /// Signs out, and locks the store after the first part.
    fileprivate func signOutNamesakesAndLock() -> (removal: Pending<Bool>, lock: Pending<KeyStatus>) {
        let removal = signOutNamesakes()
        return (removal, lock())
    }

    fileprivate func listedAccounts(of app: ClientID?) -> Int {
        let cache = core.memory.cache
        return cache.partition(.standard).accountKeys.count { account in
            let survey = cache.survey(account, in: .standard)
            return cache.lists(survey, for: app, in: .standard, isConfined: false)
        }
    }

    /// Waits for the events of all apps from now on.
    fileprivate func waitForEvents() throws -> Pending<WatchEvents.Reply> {
        let connection = ConnectionID(number: 1, processID: 1, publication: nil)
        var request = WatchEvents(clientID: nil)
        guard case .now(let first) = try core.events.next(request, from: connection, through: nil) else {
            throw TokenError(.internalError, "the first request for events is not answered at once")
        }
        request.position = try first.get().position
        guard case .later(let future) = try core.events.next(request, from: connection, through: nil) else {
            throw TokenError(.internalError, "the request does not wait")
        }
        return Pending(future)
    }
}
