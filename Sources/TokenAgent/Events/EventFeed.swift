internal import AccessPolicy
internal import NIOCore
internal import TokenCache
internal import TokenModel

/// The events of everybody who sees the same accounts: those of an app, or of every app, in a sharing group and through one socket.
///
/// It keeps a limited number of recent events, one for each subject: a reader that is slow or away costs nothing, and is told to read
/// everything again if it comes back too late. Used on the actor of `CacheOwner` only.
final class EventFeed {
    /// The properties that the readers of one feed have in common.
    struct Key: Hashable {
        var clientID: ClientID?
        var group: SharingGroup
        /// The number of the published socket; nil for the agent's own.
        var socket: UInt64?
        /// Whether the subscribers may know of their own app's accounts only; see `AgentRequest.confined`.
        var isConfined = false
    }

    /// What an event is about. A later event replaces an earlier one about the same.
    private enum Subject: Hashable {
        case account(AccountKey)
        case app(AccountKey, ClientID)
        case store
    }

    private struct Entry {
        let subject: Subject
        var event: AgentEvent
        /// The generation before which the account was not listed; nil if it is not known.
        var listedSince: Int64?
    }

    /// A request that waits for the next event.
    struct Waiter {
        let connection: ConnectionID
        let position: Int64
        let promise: EventLoopPromise<Result<WatchEvents.Reply, TokenError>>
    }

    let key: Key
    /// A random number, which distinguishes the feed's positions from those of other feeds and of earlier agents.
    let id: Int64
    /// The request whose reply lists the accounts of this feed.
    let list: ListAccounts
    /// The published socket of the feed; nil for the agent's own.
    private let publication: Publication?
    /// The number of the last event.
    private(set) var generation: Int64 = 1
    /// The last generation of which an event is missing.
    private var lost: Int64 = 1
    /// The kept events, in the order of their generations.
    private var entries: [Entry] = []
    private var size = 0
    /// The listings from before changes that have not been committed yet.
    private var pending: [AccountKey: AccountListing?] = [:]
    private(set) var waiters: [UInt64: Waiter] = [:]
    /// The connections on which the feed was asked for, and allowed.
    private(set) var connections: Set<ConnectionID> = []
    /// The number of the last request, by which the oldest feed is found.
    private(set) var lastUse: UInt64 = 0
    /// The peer that has sent it.
    private var lastPeer: PeerKey?

    init(_ key: Key, of publication: Publication?) {
        self.key = key
        self.publication = publication
        id = Int64.random(in: 1 ... .max)
        let all = ListAccounts(clientID: key.clientID, sharingGroup: key.group)
        list = key.isConfined ? all.confined : all
    }

    // MARK: Readers

    /// The events after a position; nil if there are none yet.
    ///
    /// - Parameters:
    ///   - position: nil for a reader that has seen nothing.
    ///   - state: the present state of the store, which a reader that has to read everything gets too.
    func reply(after position: EventPosition?, _ state: AgentEvent.StoreState?, at now: Int64) -> WatchEvents.Reply? {
        let end = EventPosition(feed: id, generation: generation)
        guard let position, position.feed == id, lost...generation ~= position.generation else {
            var events = [AgentEvent(.resynchronise, position: end, time: now)]
            if let state { events.append(AgentEvent(.storeChanged, position: end, time: now, storeState: state)) }
            return WatchEvents.Reply(position: end, events: events)
        }
        guard position.generation < generation else { return nil }
        let events = entries.filter { $0.event.position.generation > position.generation }.map { entry in
            var event = entry.event
            if event.kind == .accountChanged, let since = entry.listedSince, since > position.generation {
                event.kind = .accountAdded
            }
            return event
        }
        // The events after the position may have been discarded.
        return events.isEmpty ? nil : WatchEvents.Reply(position: end, events: events)
    }

    func add(_ waiter: Waiter, _ number: UInt64) { waiters[number] = waiter }

    func removeWaiter(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

    func admit(_ connection: ConnectionID) { connections.insert(connection) }

    func forget(_ connection: ConnectionID) { connections.remove(connection) }

    func forgetConnections() { connections = [] }

    func noteUse(_ number: UInt64, by peer: PeerKey) { (lastUse, lastPeer) = (number, peer) }

    /// Whether no connection of another peer has asked for the feed; if all connections are closed, whether the peer has asked last.
    func isUsedOnly(by peer: PeerKey) -> Bool {
        connections.isEmpty ? lastPeer == peer : connections.allSatisfy { $0.peer == peer }
    }

    // MARK: Changes

    /// Notes what is listed of accounts before a change of theirs, unless an earlier change is not committed yet.
    func note(_ keys: Set<AccountKey>, in cache: CredentialCache) {
        for key in keys where pending.index(forKey: key) == nil {
            pending.updateValue(listing(of: key, in: cache), forKey: key)
        }
    }

    /// Adds the events of accounts whose changes are committed.
    ///
    /// - Returns: whether there are any.
    func publish(_ keys: some Collection<AccountKey>, in cache: CredentialCache, at now: Int64) -> Bool {
        let before = generation
        for key in keys {
            guard let earlier = pending.removeValue(forKey: key) else { continue }
            publish(key, earlier, listing(of: key, in: cache), in: cache, now)
        }
        return generation > before
    }

    private func publish(
        _ key: AccountKey, _ earlier: AccountListing?, _ present: AccountListing?, in cache: CredentialCache,
        _ now: Int64
    ) {
        switch (earlier, present) {
        case (nil, nil): break
        case (nil, let present?): add(.accountAdded, .account(key), now, present.account)
        case (let earlier?, nil):
            if let clientID = self.key.clientID, cache.hasSignedOut(clientID, of: key, in: self.key.group) {
                add(.signedOut, .account(key), now, earlier.account, clientID)
            } else {
                add(.accountRemoved, .account(key), now, earlier.account)
            }
        case (let earlier?, let present?):
            if present.hasFurtherChanges(since: earlier) { add(.accountChanged, .account(key), now, present.account) }
            for app in present.signOuts(since: earlier) {
                add(.signedOut, .app(key, app), now, present.account, app)
            }
        }
    }

    /// Adds the event that a user has to sign in.
    ///
    /// - Returns: whether the feed shows the account.
    func publishInteraction(
        _ key: AccountKey, of clientID: ClientID, in cache: CredentialCache, at now: Int64
    ) -> Bool {
        guard self.key.clientID.map({ $0 == clientID }) ?? true else { return false }
        // The refusal may have removed the account from the list, in an event of its own.
        let removed = entries.last { $0.subject == .account(key) && !$0.event.isListed }?.event.account
        guard let account = listing(of: key, in: cache)?.account ?? removed else { return false }
        add(.interactionDue, .app(key, clientID), now, account, clientID)
        return true
    }

    /// Discards the event that a user has to sign in.
    func discardInteraction(_ key: AccountKey, of clientID: ClientID) {
        let subject = Subject.app(key, clientID)
        guard let index = entries.firstIndex(where: { $0.subject == subject && $0.event.kind == .interactionDue })
        else { return }
        size -= entries.remove(at: index).event.size
    }

    func publish(_ state: AgentEvent.StoreState, at now: Int64) { add(.storeChanged, .store, now, storeState: state) }

    /// Discards every event, so that each reader has to read everything again.
    func reset() {
        generation += 1
        lost = generation
        (entries, size) = ([], 0)
        pending = [:]
    }

    /// Discards what was noted of changes that are not committed, since the cache was replaced.
    func discardPending() { pending = [:] }

    private func listing(of key: AccountKey, in cache: CredentialCache) -> AccountListing? {
        guard var listing = cache.listing(of: key, for: list) else { return nil }
        guard let publication else { return listing }
        guard publication.serves(key, in: cache),
            let visible = publication.rules.visible([listing.account]).first
        else { return nil }
        listing.account = visible
        return listing
    }

    private func add(
        _ kind: AgentEvent.Kind, _ subject: Subject, _ now: Int64, _ account: Account? = nil,
        _ clientID: ClientID? = nil, storeState: AgentEvent.StoreState? = nil
    ) {
        generation += 1
        var account = account
        account?.tenantProfiles = []
        let event = AgentEvent(
            kind, position: EventPosition(feed: id, generation: generation), time: now, account: account,
            clientID: clientID, storeState: storeState)
        var since = kind == .accountAdded ? generation : nil
        if let index = entries.firstIndex(where: { $0.subject == subject }) {
            let replaced = entries.remove(at: index)
            size -= replaced.event.size
            if kind == .accountChanged { since = replaced.listedSince }
        }
        entries.append(Entry(subject: subject, event: event, listedSince: since))
        size += event.size
        while entries.count > Self.countLimit || size > Self.sizeLimit {
            let oldest = entries.removeFirst()
            size -= oldest.event.size
            lost = oldest.event.position.generation
        }
    }

    /// The largest number of events that are kept; below the longest list in a message.
    static let countLimit = 128
    /// The memory of the events that are kept, in bytes; one of them has a few hundred.
    private static let sizeLimit = 64 << 10
}

extension AgentEvent {
    /// Whether the account is listed after the event.
    fileprivate var isListed: Bool { kind == .accountAdded || kind == .accountChanged }

    /// The memory of the event, in bytes.
    fileprivate var size: Int {
        256 + (account?.homeAccountID?.text.utf8.count ?? 0) + (account?.username?.utf8.count ?? 0)
            + (account?.environment.utf8.count ?? 0) + (clientID?.text.utf8.count ?? 0)
    }
}
