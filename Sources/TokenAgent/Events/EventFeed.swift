internal import NIOCore
internal import TokenCache
internal import TokenModel

/// The events of everybody who sees the same accounts: those of an app, or of every app, in a sharing group and through one socket.
///
/// It keeps a limited number of recent events, one for each subject. A reader that is slow, or away while something changes, costs nothing,
/// and is told to read everything again if it comes back. Used on the actor of `CacheOwner` only.
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

    /// What was listed of an account before changes of it.
    private struct Noted {
        let listed: ListedAccount
        /// The account as the feed shows it; nil if the feed does not list it.
        let account: Account?
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
    /// The published socket of the feed; nil for the agent's own.
    private let publication: Publication?
    /// The number of the last event.
    private(set) var generation: Int64 = 1
    /// The last generation of which an event is missing.
    private var lost: Int64 = 1
    /// The kept events, in the order of their generations.
    private var entries: [Entry] = []
    private var size = 0
    /// The accounts as they were before changes that have not been committed yet.
    private var pending: [AccountKey: Noted] = [:]
    private(set) var waiters: [UInt64: Waiter] = [:]
    /// The connections on which the feed was asked for, and allowed.
    private(set) var connections: Set<ConnectionID> = []
    /// The number of the last request, by which the oldest feed is found.
    private(set) var lastUse: UInt64 = 0
    /// The peer that has sent it.
    private var lastPeer: PeerKey?
    /// When a request has last arrived, or ceased to wait, in seconds since 1970.
    private var lastRead: Int64 = 0
    /// Whether a reader has a position of the feed: it is told what happens after it.
    private(set) var hasReader = false

    init(_ key: Key, of publication: Publication?) {
        self.key = key
        self.publication = publication
        id = Int64.random(in: 1 ... .max)
    }

    // MARK: Readers

    /// The events after a position; nil if there are none yet.
    ///
    /// - Parameters:
    ///   - position: nil for a reader that has seen nothing.
    ///   - state: the present state of the store, which a reader that has to read everything gets too.
    func reply(after position: EventPosition?, _ state: AgentEvent.StoreState?, at now: Int64) -> WatchEvents.Reply? {
        hasReader = true
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

    func removeWaiter(_ number: UInt64, at now: Int64) -> Waiter? {
        lastRead = now
        return waiters.removeValue(forKey: number)
    }

    func admit(_ connection: ConnectionID) { connections.insert(connection) }

    func forget(_ connection: ConnectionID) { connections.remove(connection) }

    func forgetConnections() { connections = [] }

    func noteUse(_ number: UInt64, by peer: PeerKey, at now: Int64) {
        (lastUse, lastPeer, lastRead) = (number, peer, now)
    }

    /// Whether somebody waits for events, or may be about to ask for the next ones: a request has waited within the last minute, and its
    /// connection is open.
    func isBeingRead(at now: Int64) -> Bool {
        !waiters.isEmpty || !connections.isEmpty && now < lastRead + Self.readerTime
    }

    /// Whether no request waits, and no connection is open on which the feed was asked for.
    var isAbandoned: Bool { waiters.isEmpty && connections.isEmpty }

    /// Whether no connection of another peer has asked for the feed; if all connections are closed, whether the peer has asked last.
    func isUsedOnly(by peer: PeerKey) -> Bool {
        connections.isEmpty ? lastPeer == peer : connections.allSatisfy { $0.peer == peer }
    }

    // MARK: Changes

    /// Whether what was listed of an account before a change is noted, and the change is not committed yet.
    func hasNoted(_ key: AccountKey) -> Bool { pending.index(forKey: key) != nil }

    /// Notes what is listed of an account before a change.
    func note(_ listed: ListedAccount, in cache: CredentialCache) {
        pending[listed.survey.key] = Noted(listed: listed, account: account(listed, in: cache))
    }

    /// Adds the events of an account whose changes are committed.
    ///
    /// - Returns: whether there are any.
    func publish(_ comparison: AccountComparison, in cache: CredentialCache, at now: Int64) -> Bool {
        let (survey, before) = (comparison.present.survey, generation)
        guard let noted = pending.removeValue(forKey: survey.key) else { return false }
        let subject = Subject.account(survey.key)
        switch (noted.account, account(comparison.present, in: cache)) {
        case (nil, nil): break
        case (nil, let present?): add(.accountAdded, subject, now, present)
        case (let earlier?, nil):
            if let clientID = key.clientID, survey.hasSignedOut(clientID) {
                add(.signedOut, subject, now, earlier, clientID)
            } else {
                add(.accountRemoved, subject, now, earlier)
            }
        case (let earlier?, let present?):
            let isChanged = comparison.hasChanged(present, from: earlier, of: noted.listed, at: key.socket)
            // Other apps are no concern of the list of one.
            let former = key.clientID == nil ? noted.listed.survey : nil
            if isChanged || former.map(survey.hasSignIns) == true { add(.accountChanged, subject, now, present) }
            for app in former.map(survey.signOuts) ?? [] {
                add(.signedOut, .app(survey.key, app), now, present, app)
            }
        }
        return generation > before
    }

    /// Adds the event that a user has to sign in.
    ///
    /// - Returns: whether the feed shows the account.
    func publishInteraction(
        _ listed: ListedAccount, of clientID: ClientID, in cache: CredentialCache, at now: Int64
    ) -> Bool {
        let key = listed.survey.key
        // The refusal may have removed the account from the list, in an event of its own.
        let removed = entries.last { $0.subject == .account(key) && !$0.event.isListed }?.event.account
        guard let account = account(listed, in: cache) ?? removed else { return false }
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

    /// Whether the feed has events of an app.
    func concerns(_ clientID: ClientID) -> Bool { key.clientID.map { $0 == clientID } ?? true }

    /// Discards every event, so that each reader has to read everything again.
    func reset() {
        hasReader = false
        generation += 1
        lost = generation
        (entries, size) = ([], 0)
        pending = [:]
    }

    /// Discards what was noted of changes that are not committed, since the cache was replaced.
    func discardPending() { pending = [:] }

    /// What the feed lists of an account; nil if it does not list it.
    private func account(_ listed: ListedAccount, in cache: CredentialCache) -> Account? {
        guard cache.lists(listed.survey, for: key.clientID, in: key.group, isConfined: key.isConfined) else {
            return nil
        }
        return listed.account(through: publication, in: cache)
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
    /// How long a reader may take to ask for the next events, in seconds.
    static let readerTime: Int64 = 60
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
