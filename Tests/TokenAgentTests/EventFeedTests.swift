internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The events of the agent's parts: what is told to whom, and not before it is committed.
@Suite(.bounded) struct EventFeedTests {
    private let parts = Parts()

    /// A subscriber that asks for the next events when it has got some.
    private final class Subscriber {
        let parts: Parts
        var request: WatchEvents

        init(_ parts: Parts, _ request: WatchEvents = WatchEvents(clientID: nil)) async throws {
            self.parts = parts
            self.request = request
            let first = try await next()
            try #require(first.first?.kind == .resynchronise)
        }

        func pending() async -> Pending<WatchEvents.Reply> { await parts.watch(request) }

        func next() async throws -> [AgentEvent] { try await take(pending()) }

        func take(_ pending: Pending<WatchEvents.Reply>) async throws -> [AgentEvent] {
            let reply = try await pending.value()
            request.position = reply.position
            return reply.events
        }
    }

    @Test func beginsWithAResynchronisationAndTheStateOfTheStore() async throws {
        await parts.reportStore(.open)
        let reply = try await parts.watch(WatchEvents(clientID: nil)).value()
        #expect(reply.events.map(\.kind) == [.resynchronise, .storeChanged])
        #expect(reply.events.last?.storeState == .open)
    }

    @Test func tellsOfASignInWhenItIsDurable() async throws {
        let subscriber = try await Subscriber(parts)
        let events = await subscriber.pending()
        parts.store.hold()
        let signIn = await parts.signIn("alice", "1")
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(!events.isDone)
        commit.succeed()
        let told = try await subscriber.take(events)
        #expect(told.map(\.kind) == [.accountAdded])
        #expect(told.first?.account?.homeAccountID == .sample("alice"))
        #expect(told.first?.account?.username == "alice@contoso.com")
        #expect(told.first?.account?.tenantProfiles.isEmpty == true)
        #expect(told.first?.time == parts.clock.now)
        try await signIn.value()
    }

    /// Lists do not have the account already when the removal begins.
    @Test func tellsOfASignOutWhenItIsDurable() async throws {
        try await parts.signIn("alice", "1").value()
        let subscriber = try await Subscriber(parts)
        let events = await subscriber.pending()
        parts.store.hold()
        let signOut = await parts.signOut("alice")
        let commit = await parts.store.commits.next()
        try await parts.settle()
        #expect(!events.isDone)
        commit.succeed()
        #expect(try await subscriber.take(events).map(\.kind) == [.accountRemoved])
        try await signOut.value()
    }

    /// The save is committed while the account is removed from memory, and before the removal is durable.
    @Test func tellsNothingOfAnAccountWhileItsRemovalIsNotDurable() async throws {
        try await parts.signIn("alice", "1").value()
        let subscriber = try await Subscriber(parts)
        let events = await subscriber.pending()
        parts.store.hold()
        let save = await parts.signIn("alice", "2")
        let first = await parts.store.commits.next()
        let signOut = await parts.signOut("alice")
        first.succeed()
        let second = await parts.store.commits.next()
        try await parts.settle()
        #expect(!events.isDone)
        second.succeed()
        #expect(try await subscriber.take(events).map(\.kind) == [.accountRemoved])
        _ = try await save.value()
        try await signOut.value()
    }

    @Test func tellsOfASignOutThatCannotBeWrittenAndOfTheStore() async throws {
        await parts.reportStore(.open)
        try await parts.signIn("alice", "1").value()
        let subscriber = try await Subscriber(parts)
        parts.store.fail()
        #expect(try await parts.signOut("alice").error() != nil)
        let told = try await subscriber.next()
        #expect(told.map(\.kind) == [.storeChanged, .accountRemoved])
        #expect(told.first?.storeState == .unwritable)
        parts.store.fail(false)
        try await parts.signIn("bob", "1").value()
        #expect(try await subscriber.next().map(\.storeState) == [.open, nil])
    }

    @Test func coalescesTheChangesOfAnAccount() async throws {
        let subscriber = try await Subscriber(parts)
        for round in 0..<3 {
            try await parts.signIn("alice", "\(round)").value()
            try await parts.signOut("alice").value()
        }
        try await parts.signIn("bob", "1").value()
        let told = try await subscriber.next()
        #expect(told.map(\.kind) == [.accountRemoved, .accountAdded])
        #expect(told.map(\.account?.username) == ["alice@contoso.com", "bob@contoso.com"])
    }

    /// A token that is renewed changes nothing that a list shows.
    @Test func doesNotTellOfRenewedTokens() async throws {
        let subscriber = try await Subscriber(parts)
        let (request, redemption) = try await parts.beginRedemption()
        #expect(try await subscriber.next().map(\.kind) == [.accountAdded])
        let events = await subscriber.pending()
        redemption.answer(.sample("alice", "2"))
        try await request.value()
        try await parts.settle()
        #expect(!events.isDone)
    }

    @Test func tellsThatASignInIsDueOnce() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let subscriber = try await Subscriber(parts)
        redemption.fail(.invalidGrant)
        #expect(try await request.error()?.code == .interactionRequired)
        let told = try await subscriber.next()
        #expect(told.map(\.kind) == [.interactionDue])
        #expect(told.first?.account?.homeAccountID == .sample("alice"))
        #expect(told.first?.clientID == .sample)
        // The agent returns the same error again, without asking.
        let events = await subscriber.pending()
        #expect(try await parts.acquire(.sample("alice")).error()?.details.isThrottled == true)
        try await parts.settle()
        #expect(!events.isDone)
    }

    /// The other app has refresh tokens of its own.
    @Test func tellsNoOtherAppThatASignInIsDue() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        var other = TokenParameters.sample()
        other.clientID = try ClientID.sample(2)
        try await parts.signIn("alice", "2", other).value()
        let subscriber = try await Subscriber(parts, WatchEvents(clientID: other.clientID))
        let events = await subscriber.pending()
        redemption.fail(.invalidGrant)
        #expect(try await request.error()?.code == .interactionRequired)
        try await parts.settle()
        #expect(!events.isDone)
    }

    /// Only a reader that has seen the account is told of a change.
    @Test func tellsOfAnAccountThatHasChangedSinceItWasAdded() async throws {
        let (early, late) = (try await Subscriber(parts), try await Subscriber(parts))
        var other = TokenParameters.sample()
        other.clientID = try ClientID.sample(2)
        try await parts.signIn("alice", "1").value()
        #expect(try await early.next().map(\.kind) == [.accountAdded])
        try await parts.signIn("alice", "2", other).value()
        #expect(try await early.next().map(\.kind) == [.accountChanged])
        #expect(try await late.next().map(\.kind) == [.accountAdded])
    }

    /// An app with a provider of its own may name its users at any length.
    @Test func keepsEventsOfALimitedSize() async throws {
        let subscriber = try await Subscriber(parts)
        let long = String(repeating: "u", count: 900)
        for number in 0..<40 { try await parts.signIn("\(long)\(number)", "1").value() }
        #expect(try await subscriber.next().map(\.kind) == [.resynchronise])
    }

    // MARK: Continuations, which are not confirmed again

    @Test func continuesNoSubscriptionOfAnotherListOrConnection() async throws {
        let request = try await parts.subscribed()
        #expect(await parts.isContinued(request))
        var others = [request, request, request]
        others[0].clientID = ClientID("other")
        others[1].sharingGroup = try #require(SharingGroup("other"))
        others[2].position?.feed &+= 1
        for other in others { #expect(await !parts.isContinued(other)) }
        #expect(await !parts.isContinued(request, on: Self.connection(of: 2)))
    }

    @Test func continuesNothingThatOtherRulesHaveAllowed() async throws {
        let request = try await parts.subscribed()
        #expect(await parts.isContinued(request))
        await parts.forgetAdmissions()
        #expect(await !parts.isContinued(request))
    }

    @Test func tellsASlowReaderToResynchronise() async throws {
        let subscriber = try await Subscriber(parts)
        for number in 0...EventFeed.countLimit { try await parts.signIn("user-\(number)", "1").value() }
        #expect(try await subscriber.next().map(\.kind) == [.resynchronise])
        for number in 0..<EventFeed.countLimit { try await parts.signIn("other-\(number)", "1").value() }
        #expect(try await subscriber.next().count == EventFeed.countLimit)
    }

    @Test func continuesAfterEachPosition() async throws {
        let subscriber = try await Subscriber(parts)
        for user in ["alice", "bob", "carol"] { try await parts.signIn(user, "1").value() }
        let told = try await subscriber.next()
        for (index, event) in told.enumerated() where index < 2 {
            subscriber.request.position = event.position
            #expect(try await subscriber.next() == Array(told.dropFirst(index + 1)))
        }
        for unknown in [
            EventPosition(feed: 1, generation: 1), EventPosition(feed: told[0].position.feed, generation: 99),
        ] {
            subscriber.request.position = unknown
            #expect(try await subscriber.next().first?.kind == .resynchronise)
        }
    }

    @Test func tellsOnlyWhatTheListsOfTheSubscriberShow() async throws {
        let other = try #require(SharingGroup("other"))
        let inOtherGroup = try await Subscriber(parts, WatchEvents(clientID: nil, sharingGroup: other))
        let ofOtherApp = try await Subscriber(parts, WatchEvents(clientID: ClientID("other")))
        let ofApp = try await Subscriber(parts, WatchEvents(clientID: .sample))
        let pending = [await inOtherGroup.pending(), await ofOtherApp.pending()]
        try await parts.signIn("alice", "1").value()
        try await parts.signOut("alice").value()
        #expect(try await ofApp.next().map(\.kind) == [.accountRemoved])
        try await parts.settle()
        #expect(pending.map(\.isDone) == [false, false])
    }

    @Test func tellsWhichAppHasSignedOut() async throws {
        try await parts.signIn("alice", "1").value()
        let (ofAll, ofApp) = (try await Subscriber(parts), try await Subscriber(parts, WatchEvents(clientID: .sample)))
        try await parts.signOut("alice", extent: .app).value()
        for subscriber in [ofAll, ofApp] {
            let told = try await subscriber.next()
            #expect(told.map(\.kind) == [.signedOut])
            #expect(told.first?.clientID == .sample)
            #expect(told.first?.account?.username == "alice@contoso.com")
        }
    }

    @Test func resynchronisesWhenTheCacheIsReplacedOrAGroupRemoved() async throws {
        try await parts.signIn("alice", "1").value()
        let subscriber = try await Subscriber(parts)
        await parts.replaceCache()
        #expect(try await subscriber.next().map(\.kind) == [.resynchronise])
        try await parts.signOut("alice", extent: .everything).value()
        #expect(try await subscriber.next().map(\.kind) == [.resynchronise])
    }

    @Test func answersWaitingRequestsWhenTheConnectionEnds() async throws {
        let subscriber = try await Subscriber(parts)
        let pending = await subscriber.pending()
        #expect(await parts.waitingWatches == 1)
        await parts.endWatches()
        #expect(try await pending.value().events == [])
        #expect(await parts.waitingWatches == 0)
    }

    @Test func limitsTheDifferentSubscriptions() async throws {
        for number in 0..<300 {
            _ = try await parts.watch(WatchEvents(clientID: ClientID("app-\(number)"))).value()
        }
        for number in 0..<300 {
            let connection = Self.connection(of: Int32(number / EventFeeds.peerLimit))
            let pending = await parts.waitFromNow(WatchEvents(clientID: ClientID("app-\(number)")), from: connection)
            guard number >= 256 else { continue }
            let error = try await pending.error()
            #expect(error?.code == .requestDenied && error?.reason == .agent)
        }
        for process: Int32 in 0..<20 { await parts.endWatches(of: Self.connection(of: process)) }
        #expect(await parts.waitingWatches == 0)
    }

    /// A process that waits for as many lists as it may leaves room for others, whichever connections it uses.
    @Test func limitsTheDifferentSubscriptionsOfAProcess() async throws {
        for number in 0..<300 {
            let connection = ConnectionID(number: UInt64(number), processID: 1, publication: nil)
            let pending = await parts.waitFromNow(WatchEvents(clientID: ClientID("app-\(number)")), from: connection)
            guard number >= EventFeeds.peerLimit else { continue }
            let error = try await pending.error()
            #expect(error?.code == .requestDenied && error?.reason == .agent)
        }
        // The same list once more is none of the others.
        let first = Self.connection(of: 1)
        let again = await parts.waitFromNow(WatchEvents(clientID: ClientID("app-0")), from: first)
        let other = await parts.waitFromNow(WatchEvents(clientID: ClientID("other")), from: Self.connection(of: 2))
        try await parts.settle()
        #expect(!again.isDone && !other.isDone)
        // A list that is not waited for any more makes room for another one.
        await parts.endWatches(of: ConnectionID(number: 1, processID: 1, publication: nil))
        let next = await parts.waitFromNow(WatchEvents(clientID: ClientID("next")), from: first)
        try await parts.settle()
        #expect(!next.isDone)
        for number in 0..<300 {
            await parts.endWatches(of: ConnectionID(number: UInt64(number), processID: 1, publication: nil))
        }
        await parts.endWatches(of: first)
        await parts.endWatches(of: Self.connection(of: 2))
    }

    /// The process asks on one connection, or on a new one for each list, and waits for no event.
    @Test(arguments: [false, true]) func keepsTheListsOfOthersWhileAProcessAsksForMany(closes: Bool) async throws {
        let reader = Self.connection(of: 2)
        var request = WatchEvents(clientID: nil)
        request.position = try await parts.watch(request, from: reader).value().position
        for number in 0..<300 {
            let connection = ConnectionID(number: closes ? UInt64(number) : 0, processID: 1, publication: nil)
            _ = try await parts.watch(WatchEvents(clientID: ClientID("app-\(number)")), from: connection).value()
            if closes { await parts.endWatches(of: connection) }
        }
        try await parts.signIn("alice", "1").value()
        let told = try await parts.watch(request, from: reader).value()
        #expect(told.events.map(\.kind) == [.accountAdded])
    }

    @Test func countsTheSubscriptionsOfASandboxAsThoseOfOneProcess() async throws {
        var refused = 0
        for number in 0..<40 {
            let connection = ConnectionID(
                number: UInt64(number), processID: Int32(number), sandbox: SandboxedApp(id: "com.example.Mail"))
            let pending = await parts.waitFromNow(WatchEvents(clientID: ClientID("app-\(number)")), from: connection)
            guard number >= EventFeeds.peerLimit else { continue }
            #expect(try await pending.error()?.code == .requestDenied)
            refused += 1
        }
        #expect(refused == 40 - EventFeeds.peerLimit)
        for number in 0..<40 {
            await parts.endWatches(
                of: ConnectionID(
                    number: UInt64(number), processID: Int32(number), sandbox: SandboxedApp(id: "com.example.Mail")))
        }
    }

    private static func connection(of process: Int32) -> ConnectionID {
        ConnectionID(number: 1000 + UInt64(process), processID: process, publication: nil)
    }
}

extension Parts {
    fileprivate static let connection = ConnectionID(number: 1, processID: 1, publication: nil)

    /// Asks for events, as `CacheOwner` does.
    fileprivate func watch(
        _ request: WatchEvents, from connection: ConnectionID = connection
    ) -> Pending<WatchEvents.Reply> {
        do throws(TokenError) {
            switch try core.events.next(request, from: connection, through: nil) {
            case .now(let outcome): return Pending(loop.makeSucceededFuture(outcome))
            case .later(let future): return Pending(future)
            case .repeatable(let reply, _): return Pending(loop.makeSucceededFuture(.success(reply)))
            }
        } catch {
            return Pending(loop.makeSucceededFuture(.failure(error)))
        }
    }

    /// Waits for events after the present position.
    fileprivate func waitFromNow(
        _ request: WatchEvents, from connection: ConnectionID
    ) -> Pending<WatchEvents.Reply> {
        var request = request
        if case .now(.success(let reply))? = try? core.events.next(request, from: connection, through: nil) {
            request.position = reply.position
        }
        return watch(request, from: connection)
    }

    /// A request that continues a subscription of an app.
    fileprivate func subscribed() async throws -> WatchEvents {
        var request = WatchEvents(clientID: .sample)
        request.position = try await watch(request).value().position
        return request
    }

    fileprivate func isContinued(_ request: WatchEvents, on connection: ConnectionID = connection) -> Bool {
        core.events.isContinued(by: request, on: connection)
    }

    fileprivate func forgetAdmissions() { core.events.forgetAdmissions() }

    fileprivate var waitingWatches: Int { core.events.waitingCount }

    fileprivate func endWatches(of connection: ConnectionID = connection) { core.events.ended(connection) }

    fileprivate func reportStore(_ state: AgentEvent.StoreState) { core.events.storeChanged(to: state) }
}
