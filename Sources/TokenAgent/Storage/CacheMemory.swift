internal import NIOCore
internal import TokenCache
internal import TokenModel

/// The cache in memory, from which requests are answered. Changes are applied to it here and nowhere else, and end the kept answers
/// that they could alter. While a removal is in progress, nothing that it removes comes back.
///
/// Used on the actor of `CacheOwner` only.
final class CacheMemory {
    private let answers: AnswerChanges
    private let loop: any EventLoop
    let events: EventFeeds
    /// Empty until the store has been loaded.
    private(set) var cache = CredentialCache()
    /// The number of changes so far. A result computed off the event loop from a copy of the cache is out of date if the number
    /// has changed.
    private(set) var changeCount = 0
    /// The number of times that another cache has taken the place of this one.
    private(set) var replacementCount = 0
    /// The removals in progress, in order.
    private var removals: [PendingRemoval] = []

    init(_ answers: AnswerChanges, _ events: EventFeeds, on loop: any EventLoop) {
        self.answers = answers
        self.events = events
        self.loop = loop
    }

    /// Applies committed changes, which are visible to every later request, and tells subscribers.
    func apply(_ changes: [CacheChange], in group: SharingGroup) {
        loop.assertInEventLoop()
        guard !changes.isEmpty else { return }
        let prepared = events.prepare(changes, in: group, cache, holds: false)
        makeVisible(changes, in: group)
        if changes.contains(where: \.mayBringBack) { repeatRemovals(in: [group], after: changes) }
        events.publish(prepared, cache)
    }

    /// Makes a removal visible before it is committed. Subscribers are told when `end` is called with the result.
    func begin(_ removal: PendingRemoval, _ changes: [CacheChange]) -> EventFeeds.PreparedChanges? {
        loop.assertInEventLoop()
        removals.append(removal)
        guard !changes.isEmpty else { return nil }
        removal.changes = changes
        let held = events.prepare(changes, in: removal.group, cache, holds: true)
        makeVisible(changes, in: removal.group)
        // An earlier removal does not find this any more, and is acknowledged before this one is durable.
        for earlier in removals where earlier.isDivided && earlier.group == removal.group {
            earlier.changes += changes
        }
        return held
    }

    /// Begins a removal of very many accounts, which `extend` makes visible. Subscribers are told when `end` is called with the result that
    /// anything may have changed.
    func beginDivided(_ removal: PendingRemoval) -> EventFeeds.PreparedChanges {
        loop.assertInEventLoop()
        removals.append(removal)
        return events.prepareForAnyAccount(of: removal.group)
    }

    /// Makes further changes of a removal visible before it is committed.
    func extend(_ removal: PendingRemoval, by changes: [CacheChange]) {
        loop.assertInEventLoop()
        guard !changes.isEmpty else { return }
        removal.changes += changes
        makeVisible(changes, in: removal.group)
    }

    /// Ends a removal, after which later changes may add again what it has removed, and tells subscribers. A removal whose commit has
    /// failed is in effect nevertheless.
    func end(_ removal: PendingRemoval, _ held: EventFeeds.PreparedChanges?) {
        removals.removeAll { $0 === removal }
        if let held { events.release(held, cache) }
    }

    /// Whether a removal of a sharing group is in progress.
    func hasRemovals(in group: SharingGroup) -> Bool { removals.contains { $0.group == group } }

    /// Removes again what a change has brought back, in the same turn of the event loop.
    ///
    /// - Parameter applied: the changes that may have brought it; none if another cache has taken the place of this one.
    private func repeatRemovals(in groups: Set<SharingGroup>, after applied: [CacheChange] = []) {
        for removal in removals where groups.contains(removal.group) {
            let found = removal.find(in: cache, after: applied)
            let moved = removal.removals(ofRecordsMovedBy: applied, cache.clouds)
            extend(removal, by: found + moved.filter { !found.contains($0) })
        }
    }

    private func makeVisible(_ changes: [CacheChange], in group: SharingGroup) {
        cache.apply(changes, in: group)
        changeCount += 1
        answers.end(AlteredAnswers(changes, in: group))
    }

    /// Adds tokens that have been read from the store. What requests get does not change, unless the store has lost records.
    func fill(with read: ReadTokens, of tokens: [UnreadToken], in group: SharingGroup) {
        loop.assertInEventLoop()
        apply(cache.fill(with: read, of: tokens, in: group), in: group)
    }

    /// Removes the tokens of an account from memory. They have to be in the store.
    func pack(_ account: AccountKey, in group: SharingGroup) {
        loop.assertInEventLoop()
        cache.pack([account], in: group, leaving: [])
    }

    /// Replaces the cache: with the content of the store, or with a copy that contains an import.
    func replace(with cache: CredentialCache) {
        replace(cache)
        events.cacheWasReplaced(isEmptied: false)
    }

    /// Forgets every record, since the store is locked.
    func removeEverything() {
        replace(CredentialCache())
        events.cacheWasReplaced(isEmptied: true)
    }

    private func replace(_ cache: CredentialCache) {
        loop.assertInEventLoop()
        self.cache = cache
        changeCount += 1
        replacementCount += 1
        answers.end(.all)
        repeatRemovals(in: Set(removals.map(\.group)))
    }

    /// Adds clouds that instance discovery has named.
    ///
    /// - Returns: whether anything in them was new.
    func learn(_ clouds: [CloudDirectory.Cloud], about environment: String) -> Bool {
        loop.assertInEventLoop()
        guard cache.clouds.learn(clouds, about: environment) else { return false }
        changeCount += 1
        answers.end(.all)
        return true
    }
}

extension CacheChange {
    /// Whether the change may add what a removal removes: an account, a token, the current account of an app, or a record that is kept and
    /// not understood.
    fileprivate var mayBringBack: Bool {
        guard case .save(let record) = self else { return false }
        return switch record {
        case .account, .accessToken, .refreshToken, .idToken, .currentAccount, .opaque: true
        case .appMetadata, .accountMetadata: false
        }
    }
}
