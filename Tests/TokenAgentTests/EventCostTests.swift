internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// What a change costs beside many subscriptions: the number of surveys of accounts, each of which takes as long as a list.
@Suite(.bounded) struct EventCostTests {
    private let parts = Parts()

    /// As many apps wait as may, each for a list of its own.
    @Test func surveysAnAccountOnceBeforeAndOnceAfterAChange() async throws {
        let apps = try (0..<EventFeeds.feedLimit).map { try ClientID.sample($0) }
        var waiting: [Pending<WatchEvents.Reply>] = []
        for (number, app) in apps.enumerated() {
            waiting.append(try await parts.waitForEvents(of: app, from: Self.connection(number)))
        }
        var parameters = TokenParameters.sample()
        parameters.clientID = apps[3]
        try await parts.signIn("alice", "1", parameters).value()
        #expect(try await waiting[3].value().events.map(\.kind) == [.accountAdded])
        #expect(await parts.surveyCount == 2)
        try await parts.settle()
        #expect(waiting.count(where: \.isDone) == 1)
        for number in apps.indices { await parts.end(Self.connection(number)) }
    }

    @Test func surveysNoAccountForARenewal() async throws {
        let (request, redemption) = try await parts.beginRedemption()
        let waiting = try await parts.waitForEvents(of: nil, from: Self.connection(0))
        redemption.answer(.sample("alice", "2"))
        try await request.value()
        try await parts.settle()
        #expect(await parts.surveyCount == 0)
        #expect(!waiting.isDone)
        await parts.end(Self.connection(0))
    }

    // MARK: Readers that are away

    @Test func keepsNoSubscriptionOfAnEndedConnectionAfterAChange() async throws {
        let connection = Self.connection(0)
        let request = try await parts.subscription(of: .sample, from: connection)
        await parts.end(connection)
        #expect(await parts.feedCount == 1)
        try await parts.signIn("alice", "1").value()
        #expect(await parts.surveyCount == 0)
        #expect(await parts.feedCount == 0)
        let reply = try await parts.ask(request, from: Self.connection(1)).value()
        #expect(reply.events.map(\.kind) == [.resynchronise])
    }

    @Test func continuesASubscriptionOfAnEndedConnectionIfNothingHasChanged() async throws {
        let request = try await parts.subscription(of: .sample, from: Self.connection(0))
        await parts.end(Self.connection(0))
        let waiting = await parts.ask(request, from: Self.connection(1))
        try await parts.signIn("alice", "1").value()
        #expect(try await waiting.value().events.map(\.kind) == [.accountAdded])
    }

    @Test(arguments: [EventFeed.readerTime - 1, EventFeed.readerTime])
    func tellsAReaderThatHasNotAskedForAMinuteToResynchronise(time: Int64) async throws {
        let connection = Self.connection(0)
        let request = try await parts.subscription(of: .sample, from: connection)
        parts.clock.advance(by: time)
        for user in ["alice", "bob"] { try await parts.signIn(user, "1").value() }
        let isAway = time == EventFeed.readerTime
        #expect(await parts.surveyCount == (isAway ? 0 : 4))
        #expect(await parts.isContinued(request, on: connection), "a person who has confirmed it is not asked again")
        let reply = try await parts.ask(request, from: connection).value()
        #expect(reply.events.map(\.kind) == (isAway ? [.resynchronise] : [.accountAdded, .accountAdded]))
        var next = request
        next.position = reply.position
        let waiting = await parts.ask(next, from: connection)
        try await parts.signIn("carol", "1").value()
        #expect(try await waiting.value().events.map(\.kind) == [.accountAdded])
    }

    // MARK: Limits

    @Test(arguments: [true, false]) func comparesNoAccountWithVeryManyRecords(isLarge: Bool) async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.addProfiles(of: "alice", AffectedAccounts.recordLimit - (isLarge ? 0 : 10))
        let waiting = try await parts.waitForEvents(of: nil, from: Self.connection(0))
        try await parts.signOut("alice", extent: .app).value()
        #expect(try await waiting.value().events.map(\.kind) == [isLarge ? .resynchronise : .signedOut])
        #expect(await parts.surveyCount == (isLarge ? 0 : 2))
    }

    /// The number of comparisons is that of the accounts, times that of the lists.
    @Test(arguments: [0, 1]) func makesALimitedNumberOfComparisons(surplus: Int) async throws {
        let (lists, accounts) = (128, EventFeeds.comparisonLimit / 128 + surplus)
        let records = try (0..<accounts).map { try Self.record(of: "user-\($0)") }
        await parts.apply(records.map { .save($0) })
        for number in 1..<lists {
            _ = try await parts.subscription(of: ClientID.sample(number), from: Self.connection(number))
        }
        let waiting = try await parts.waitForEvents(of: nil, from: Self.connection(0))
        await parts.apply(records.map { .remove($0.key(in: .standard), account: $0.header.account) })
        let removed = Array(repeating: AgentEvent.Kind.accountRemoved, count: accounts)
        #expect(try await waiting.value().events.map(\.kind) == (surplus > 0 ? [.resynchronise] : removed))
        #expect(await parts.surveyCount == (surplus > 0 ? 0 : 2 * accounts))
    }

    private static func record(of user: String) throws -> CacheRecord {
        .account(
            AccountRecord(
                homeAccountID: "\(user).tenant", environment: "login.windows.net", realm: "tenant",
                localAccountID: user, username: "\(user)@contoso.com", authorityType: AccountRecord.entraType,
                source: AccountRecord.msalSource))
    }

    /// A connection of a process that asks for as many lists as it may.
    private static func connection(_ number: Int) -> ConnectionID {
        ConnectionID(
            number: UInt64(number), processID: Int32(number / EventFeeds.peerLimit), publication: nil)
    }
}

extension Parts {
    fileprivate var surveyCount: Int { core.events.surveyCount }

    fileprivate var feedCount: Int { core.events.count }

    /// Asks for events, as `CacheOwner` does.
    fileprivate func ask(_ request: WatchEvents, from connection: ConnectionID) -> Pending<WatchEvents.Reply> {
        start { parts async throws(TokenError) in
            try await parts.core.events.next(request, from: connection, through: nil).outcome()
        }
    }

    /// Subscribes, and returns the request for the events after the present position.
    fileprivate func subscription(of app: ClientID?, from connection: ConnectionID) throws -> WatchEvents {
        var request = WatchEvents(clientID: app)
        guard case .now(let outcome) = try core.events.next(request, from: connection, through: nil) else {
            throw TokenError(.internalError, "the first request for events is not answered at once")
        }
        request.position = try outcome.get().position
        return request
    }

    fileprivate func waitForEvents(
        of app: ClientID?, from connection: ConnectionID
    ) throws -> Pending<WatchEvents.Reply> {
        let request = try subscription(of: app, from: connection)
        guard case .later(let future) = try core.events.next(request, from: connection, through: nil) else {
            throw TokenError(.internalError, "the request does not wait")
        }
        return Pending(future)
    }

    fileprivate func isContinued(_ request: WatchEvents, on connection: ConnectionID) -> Bool {
        core.events.isContinued(by: request, on: connection)
    }

    fileprivate func end(_ connection: ConnectionID) { core.events.ended(connection) }

    fileprivate func apply(_ changes: [CacheChange]) { core.memory.apply(changes, in: .standard) }

    /// Adds profiles in other tenants to a user's account.
    fileprivate func addProfiles(of user: String, _ count: Int) throws {
        let partition = core.memory.cache.partition(.standard)
        let key = try #require(partition.accounts(with: .sample(user)).first)
        var record = try #require(partition[key].accounts.values.first)
        for number in 0..<count {
            record.realm = "tenant-\(number)"
            apply([.save(.account(record))])
        }
    }
}
