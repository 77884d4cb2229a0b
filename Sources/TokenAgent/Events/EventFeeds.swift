internal import NIOCore
internal import TokenCache
internal import TokenModel

/// The feeds of events, and the requests that wait for them. Subscribers are told of a change after its commit, also if
/// the store could not be written.
///
/// Before a change is visible, `prepare` notes what the feeds list of its accounts; when it is committed, `publish`
/// compares. An account is surveyed once for all feeds, before and after. Without subscribers neither does anything, and
/// a cache hit is no change. Used on the actor of `CacheOwner` only.
final class EventFeeds {
    /// The accounts that changes affect, as `prepare` has noted them. If they are held, no event about them is sent until `release`.
    struct PreparedChanges {
        fileprivate let accounts: AffectedAccounts
        fileprivate let group: SharingGroup
    }

    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private var feeds: [EventFeed.Key: EventFeed] = [:]
    private var held: [SharingGroup: [AccountKey: Int]] = [:]
    /// The numbers of removals that could concern any account of a sharing group.
    private var heldGroups: [SharingGroup: Int] = [:]
    /// The waiting requests of each connection, by their numbers, and the feeds for which they wait.
    private var waiting: [ConnectionID: [UInt64: EventFeed.Key]] = [:]
    /// The numbers of waiting requests of each process, by the feeds for which they wait.
    private var watched: [PeerKey: [EventFeed.Key: Int]] = [:]
    private var lastNumber: UInt64 = 0
    /// The number of surveys of accounts so far.
    private(set) var surveyCount = 0
    /// The feeds whose waiting requests are answered at the end of the event loop's iteration.
    private var answering: Set<EventFeed.Key> = []
    /// The state of the store; nil until it has been loaded or could not be.
    private(set) var storeState: AgentEvent.StoreState?

    init(loop: any EventLoop, now: @escaping @Sendable () -> Int64) {
        self.loop = loop
        self.now = now
    }

    /// The number of requests that wait for an event.
    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.count } }

    /// The number of different subscriptions.
    var count: Int { feeds.count }

    // MARK: Readers

    /// Answers a request for events: at once if there are any, otherwise with the next one.
    ///
    /// - Throws: `requestDenied` (-53011) if the request is not for what the socket is published for, or if the process, or all
    ///   together, have too many different subscriptions.
    func next(
        _ request: WatchEvents, from connection: ConnectionID, through publication: Publication?
    ) throws(TokenError) -> Answer<WatchEvents.Reply> {
        let feed = try feed(of: request, for: connection.peer, publication)
        feed.admit(connection)
        if let reply = feed.reply(after: request.position, storeState, at: now()) { return .now(.success(reply)) }
        try countWaiting(of: connection.peer, for: feed.key)
        lastNumber += 1
        let promise = loop.makePromise(of: Result<WatchEvents.Reply, TokenError>.self)
        feed.add(EventFeed.Waiter(connection: connection, position: feed.generation, promise: promise), lastNumber)
        waiting[connection, default: [:]][lastNumber] = feed.key
        return .later(promise.futureResult)
    }

    /// Whether a request continues a subscription of the connection, which was allowed.
    func isContinued(by request: WatchEvents, on connection: ConnectionID) -> Bool {
        feeds.values.contains {
            $0.id == request.position?.feed && $0.key.clientID == request.clientID
                && $0.key.group == request.sharingGroup && $0.connections.contains(connection)
        }
    }

    /// Answers the waiting requests of a connection that is about to be closed, without an event.
    func finish(_ connection: ConnectionID) {
        for (number, key) in waiting.removeValue(forKey: connection) ?? [:] {
            guard let feed = feeds[key], let waiter = feed.removeWaiter(number, at: now()) else { continue }
            waitEnded(of: connection.peer, for: key)
            let position = EventPosition(feed: feed.id, generation: waiter.position)
            waiter.promise.succeed(.success(WatchEvents.Reply(position: position, events: [])))
        }
    }

    /// Answers every waiting request without an event, so that apps ask again.
    func finishAll() {
        for connection in Array(waiting.keys) { finish(connection) }
    }

    /// Forgets which connections were allowed to subscribe, so that the access policy decides about the next request of each of them as about
    /// the first one.
    func forgetAdmissions() {
        for feed in feeds.values { feed.forgetConnections() }
    }

    /// Forgets a connection that is closed.
    func ended(_ connection: ConnectionID) {
        finish(connection)
        for feed in feeds.values {
            feed.forget(connection)
            if feed.isAbandoned, !feed.hasReader { feeds[feed.key] = nil }
        }
    }

    /// Counts a request that begins to wait, within the limit of feeds for which one process may wait: a feed with
    /// waiting requests is not discarded, so that one process could otherwise occupy every feed.
    private func countWaiting(of peer: PeerKey, for feed: EventFeed.Key) throws(TokenError) {
        let others = watched[peer] ?? [:]
        guard others[feed] != nil || others.count < Self.peerLimit else { throw Self.tooManyOfPeer }
        watched[peer, default: [:]][feed, default: 0] += 1
    }

    private func waitEnded(of peer: PeerKey, for feed: EventFeed.Key) {
        guard let count = watched[peer]?[feed] else { return }
        watched[peer]?[feed] = count > 1 ? count - 1 : nil
        if watched[peer]?.isEmpty == true { watched[peer] = nil }
    }

    private func feed(
        of request: WatchEvents, for peer: PeerKey, _ publication: Publication?
    ) throws(TokenError) -> EventFeed {
        let key = EventFeed.Key(
            clientID: request.clientID, group: request.sharingGroup, socket: publication?.id,
            isConfined: request.isConfined)
        lastNumber += 1
        if let feed = feeds[key] {
            feed.noteUse(lastNumber, by: peer, at: now())
            return feed
        }
        // A peer that asks for very many lists replaces its own: another app, which is about to ask for its next events, would have
        // to read everything again.
        let unused = feeds.values.filter(\.waiters.isEmpty)
        let own = unused.filter { $0.isUsedOnly(by: peer) }
        if own.count >= Self.peerLimit || feeds.count >= Self.feedLimit {
            let replaceable = own.count >= Self.peerLimit ? own : unused
            guard let oldest = replaceable.min(by: { $0.lastUse < $1.lastUse }) else { throw Self.tooMany }
            feeds[oldest.key] = nil
        }
        let feed = EventFeed(key, of: publication)
        feed.noteUse(lastNumber, by: peer, at: now())
        feeds[key] = feed
        return feed
    }

    // MARK: Changes

    /// Notes what is listed before changes; called before they are applied to the cache.
    ///
    /// - Parameter holds: whether the changes are committed later; `release` has to follow.
    /// - Returns: what to pass to `publish` or `release`; nil if there is nothing to do.
    func prepare(
        _ changes: [CacheChange], in group: SharingGroup, _ cache: CredentialCache, holds: Bool
    ) -> PreparedChanges? {
        // While the events of the whole group are held, every reader is about to read everything again.
        let isHeld = heldGroups[group] != nil
        guard holds || !isHeld && feeds.values.contains(where: { $0.key.group == group && $0.hasReader }) else {
            return nil
        }
        var accounts = cache.accounts(affectedBy: changes, in: group)
        if case .some(let keys) = accounts, keys.isEmpty { return nil }
        if !isHeld, case .some(let keys) = accounts {
            let readers = readFeeds(of: group)
            if keys.count * readers.count <= Self.comparisonLimit {
                note(keys, in: readers, of: group, cache)
            } else {
                accounts = .any
            }
        }
        if holds { hold(accounts, in: group, 1) }
        return PreparedChanges(accounts: accounts, group: group)
    }

    /// Holds the events of a sharing group before a removal that concerns very many accounts, or may do so; `release` has to follow.
    func prepareForAnyAccount(of group: SharingGroup) -> PreparedChanges {
        hold(.any, in: group, 1)
        return PreparedChanges(accounts: .any, group: group)
    }

    /// Sends the events of committed changes, but for accounts of which a removal is not committed.
    func publish(_ changes: PreparedChanges?, _ cache: CredentialCache) {
        guard let changes, heldGroups[changes.group] == nil else { return }
        let feeds = feeds(of: changes.group)
        switch changes.accounts {
        case .any: for feed in feeds { reset(feed) }
        case .some(let keys):
            let isHeld = held[changes.group] ?? [:]
            for key in keys where isHeld[key] == nil {
                let readers = feeds.filter { $0.hasNoted(key) }
                guard !readers.isEmpty else { continue }
                let comparison = AccountComparison(survey(key, in: changes.group, cache))
                for feed in readers where feed.publish(comparison, in: cache, at: now()) { answer(feed) }
            }
        }
    }

    /// Sends the events of a removal that is now committed.
    func release(_ changes: PreparedChanges, _ cache: CredentialCache) {
        hold(changes.accounts, in: changes.group, -1)
        publish(changes, cache)
    }

    /// Notes what feeds list of accounts, unless an earlier change of an account is not committed yet.
    private func note(
        _ keys: Set<AccountKey>, in feeds: [EventFeed], of group: SharingGroup, _ cache: CredentialCache
    ) {
        for key in keys {
            let others = feeds.filter { !$0.hasNoted(key) }
            guard !others.isEmpty else { continue }
            let listed = survey(key, in: group, cache)
            for feed in others { feed.note(listed, in: cache) }
        }
    }

    private func survey(_ key: AccountKey, in group: SharingGroup, _ cache: CredentialCache) -> ListedAccount {
        surveyCount += 1
        return ListedAccount(cache.survey(key, in: group))
    }

    /// The feeds whose readers are told what happens now. The others are reset: their readers are away, and read everything again when they
    /// come back.
    private func readFeeds(of group: SharingGroup) -> [EventFeed] {
        let time = now()
        return feeds(of: group).filter { feed in
            guard feed.hasReader else { return false }
            if feed.isBeingRead(at: time) { return true }
            reset(feed)
            return false
        }
    }

    /// Has the readers of a feed read everything again. A feed without connections is not kept: the positions of its readers are those of no
    /// feed then.
    private func reset(_ feed: EventFeed) {
        if feed.isAbandoned {
            feeds[feed.key] = nil
        } else {
            feed.reset()
            answer(feed)
        }
    }

    /// Reports that the refresh tokens of an account are refused.
    func interactionIsDue(
        _ account: AccountKey, of clientID: ClientID, in group: SharingGroup, _ cache: CredentialCache
    ) {
        let feeds = feeds(of: group).filter { $0.concerns(clientID) }
        guard !feeds.isEmpty else { return }
        let listed = survey(account, in: group, cache)
        for feed in feeds where feed.publishInteraction(listed, of: clientID, in: cache, at: now()) { answer(feed) }
    }

    /// Reports that an app has got tokens of an account, which is known under one of these keys: a reader that comes late is not told any
    /// more that the user has to sign in.
    func interactionHasEnded(_ accounts: Set<AccountKey>, of clientID: ClientID, in group: SharingGroup) {
        for feed in feeds(of: group) where feed.concerns(clientID) {
            for account in accounts { feed.discardInteraction(account, of: clientID) }
        }
    }

    /// Reports the state of the store.
    func storeChanged(to state: AgentEvent.StoreState) {
        guard state != storeState else { return }
        storeState = state
        for feed in feeds.values {
            feed.publish(state, at: now())
            answer(feed)
        }
    }

    /// Reports that the cache was replaced.
    ///
    /// - Parameter isEmptied: whether the store was locked, so that there is nothing to read.
    func cacheWasReplaced(isEmptied: Bool) {
        for feed in feeds.values {
            if isEmptied { feed.discardPending() } else { reset(feed) }
        }
    }

    private func feeds(of group: SharingGroup) -> [EventFeed] {
        feeds.isEmpty ? [] : feeds.values.filter { $0.key.group == group }
    }

    private func hold(_ accounts: AffectedAccounts, in group: SharingGroup, _ step: Int) {
        switch accounts {
        case .any:
            let count = (heldGroups[group] ?? 0) + step
            heldGroups[group] = count > 0 ? count : nil
        case .some(let keys):
            var counts = held.removeValue(forKey: group) ?? [:]
            for key in keys {
                let count = (counts[key] ?? 0) + step
                counts[key] = count > 0 ? count : nil
            }
            if !counts.isEmpty { held[group] = counts }
        }
    }

    /// Answers the requests that wait for a feed at the end of the event loop's iteration: sending a reply may begin
    /// another request, which must not see a change half applied. Further events of the iteration are in the same
    /// reply.
    private func answer(_ feed: EventFeed) {
        guard !feed.waiters.isEmpty, answering.insert(feed.key).inserted else { return }
        let key = feed.key
        loop.assumeIsolated().execute { self.answerWaiting(key) }
    }

    private func answerWaiting(_ key: EventFeed.Key) {
        answering.remove(key)
        guard let feed = feeds[key] else { return }
        var replies: [Int64: WatchEvents.Reply] = [:]
        for (number, waiter) in feed.waiters.sorted(by: { $0.key < $1.key }) {
            let position = EventPosition(feed: feed.id, generation: waiter.position)
            let known = replies[waiter.position] ?? feed.reply(after: position, storeState, at: now())
            guard let reply = known, feed.removeWaiter(number, at: now()) != nil else { continue }
            replies[waiter.position] = reply
            waitEnded(of: waiter.connection.peer, for: key)
            waiting[waiter.connection]?[number] = nil
            if waiting[waiter.connection]?.isEmpty == true { waiting[waiter.connection] = nil }
            waiter.promise.succeed(.success(reply))
        }
    }

    /// The largest number of different subscriptions; each is looked at with every change of its sharing group.
    static let feedLimit = 256
    /// The largest number of comparisons for one change: of each of its accounts for each feed.
    static let comparisonLimit = 8_192
    /// The largest number of different subscriptions for which one peer waits at a time, and of those that are kept for a peer that does
    /// not wait; an app has one for each client ID.
    static let peerLimit = 16

    private static let tooMany = TokenError(
        .requestDenied, "apps watch as many different lists of accounts as the agent can compare; close one of them",
        reason: .agent)

    private static let tooManyOfPeer = TokenError(
        .requestDenied,
        "this app watches \(peerLimit) different lists of accounts, which is the limit; close one of them",
        reason: .agent)
}
