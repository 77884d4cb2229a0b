internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The event that a sign-in is due, when none is due any more: a reader that comes late would have the user sign in again.
@Suite(.bounded) struct EndedInteractionTests {
    private let parts = Parts()

    @Test func tellsNoLateReaderOfASignInThatHasBeenMade() async throws {
        let position = try await parts.refuseRenewal()
        try await parts.signIn("alice", "2").value()
        #expect(try await parts.events(after: position) == nil)
        try await parts.signIn("bob", "3").value()
        #expect(try await parts.events(after: position)?.events.map(\.kind) == [.accountAdded])
    }

    /// The agent uses the tokens, and writes them later.
    @Test func tellsNoLateReaderOfASignInThatCannotBeWrittenYet() async throws {
        let position = try await parts.refuseRenewal()
        parts.store.fail()
        #expect(try await parts.signIn("alice", "2").error()?.code == .storeUnavailable)
        #expect(try await parts.events(after: position) == nil)
    }

    @Test func tellsNoLateReaderOfASignInAfterARenewal() async throws {
        let position = try await parts.refuseRenewal()
        let renewal = await parts.acquire(.sample("alice", .sample(["Mail.Read"])))
        await parts.provider.redemptions.next().answer(.sample("alice", "2"))
        try await renewal.value()
        #expect(try await parts.events(after: position) == nil)
    }

    @Test func stillTellsOfASignInAfterThatOfAnotherApp() async throws {
        let position = try await parts.refuseRenewal()
        var other = TokenParameters.sample()
        other.clientID = try ClientID.sample(2)
        try await parts.signIn("alice", "2", other).value()
        let told = try await parts.events(after: position)?.events
        #expect(told?.map(\.kind) == [.interactionDue, .accountChanged])
    }

    /// The events after those that were discarded are told to a reader that waits already.
    @Test func tellsAReaderThatWaitsSinceThenOfTheNextEvent() async throws {
        let position = try await parts.refuseRenewal()
        try await parts.signIn("alice", "2").value()
        let next = await parts.nextEvents(after: position)
        try await parts.signIn("bob", "3").value()
        #expect(try await next.value().events.map(\.kind) == [.accountAdded])
    }
}

extension Parts {
    private static let reader = ConnectionID(number: 1, processID: 1, publication: nil)

    /// Signs alice in, and has the renewal of her token refused.
    ///
    /// - Returns: the position before the event that a sign-in is due.
    fileprivate func refuseRenewal() async throws -> EventPosition {
        let (request, redemption) = try await beginRedemption()
        let first = try events(after: nil)
        let position = try #require(first).position
        redemption.fail(.invalidGrant)
        let error = try await request.error()
        try #require(error?.code == .interactionRequired)
        let told = try events(after: position)?.events.map(\.kind)
        try #require(told == [.interactionDue])
        return position
    }

    /// The events after a position, as `CacheOwner` returns them; nil if there are none yet.
    fileprivate func events(after position: EventPosition?) throws -> WatchEvents.Reply? {
        var request = WatchEvents(clientID: nil)
        request.position = position
        let answer = try core.events.next(request, from: Self.reader, through: nil)
        core.events.finish(Self.reader)
        guard case .now(let outcome) = answer else { return nil }
        return try outcome.get()
    }

    /// Waits for the events after a position.
    fileprivate func nextEvents(after position: EventPosition) -> Pending<WatchEvents.Reply> {
        start { parts async throws(TokenError) in
            var request = WatchEvents(clientID: nil)
            request.position = position
            return try await parts.core.events.next(request, from: Self.reader, through: nil).outcome()
        }
    }
}
