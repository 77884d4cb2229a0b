internal import TokenModel
internal import TokenStore

/// The changes that could not be written, in order, with the latest change of each record only.
///
/// A later change of a record supersedes the earlier one: once it is written, the earlier one must not be written after it.
struct UnsavedChanges: Sendable {
    private var steps: [StoreChange] = []
    /// The changes that commits in progress write again, by the number of the attempt.
    private var attempts: [Int: [StoreChange]] = [:]
    private var lastAttempt = 0
    /// The upgrade of the store, until it has been written.
    private var upgrade: Upgrade?

    /// The writing of an earlier version's records as this one stores them.
    private struct Upgrade {
        /// In bytes.
        let size: Int
        /// The keys under which the store has records until then, by the keys that these get.
        let formerKeys: [RecordKey: RecordKey]
        /// Those of these keys that only the upgrade deletes, and no failed removal.
        var movedKeys: Set<RecordKey>
        /// The attempt that writes them; nil if none does now.
        var attempt: Int?
    }

    /// Whether there are no changes but those that are being written again.
    var isEmpty: Bool { steps.isEmpty }

    /// Whether a commit in progress writes changes again.
    var areBeingWritten: Bool { !attempts.isEmpty }

    /// The size of all changes in bytes, less that of an upgrade, which no app has added.
    var sizeOfAdditions: Int {
        let size = (attempts.values.joined() + steps).reduce(0) { $0 + $1.size }
        return max(size - (upgrade?.size ?? 0), 0)
    }

    /// Whether records of a sharing group are to be deleted, apart from redemption notes, which saved tokens delete, and from records that an
    /// upgrade stores under other keys: a removal deletes them under both (`formerDeletions`).
    func hasRemovals(in group: SharingGroup) -> Bool {
        steps.contains { step in
            switch step {
            case .put: false
            case .delete(let key): key.group == group.name && key.kind != .redemption && !isMoved(key)
            case .deleteGroup(let name): name == group.name
            }
        }
    }

    private func isMoved(_ key: RecordKey) -> Bool { upgrade?.movedKeys.contains(key) == true }

    /// Begins to write all changes again, which no other commit does meanwhile. A newer change of a record that is written meanwhile
    /// supersedes the change here as well.
    ///
    /// - Returns: the changes, and the number with which to end the attempt; nil if there are none.
    mutating func beginWriting() -> (attempt: Int?, steps: [StoreChange]) {
        guard !steps.isEmpty else { return (nil, []) }
        lastAttempt += 1
        attempts[lastAttempt] = steps
        if upgrade?.attempt == nil { upgrade?.attempt = lastAttempt }
        defer { steps = [] }
        return (lastAttempt, steps)
    }

    /// Ends an attempt whose changes have been written.
    mutating func endWriting(_ attempt: Int?) {
        guard let attempt else { return }
        attempts[attempt] = nil
        if upgrade?.attempt == attempt { upgrade = nil }
    }

    /// Ends an attempt that has failed: its changes are to be written again, before newer ones, except for those of records of which there
    /// is a newer change.
    mutating func failWriting(_ attempt: Int?) {
        guard let attempt, let earlier = attempts.removeValue(forKey: attempt) else { return }
        if upgrade?.attempt == attempt { upgrade?.attempt = nil }
        let newer = steps
        steps = earlier
        endSupersededUpgrade()
        append(newer)
    }

    /// Adds changes that could not be written; they supersede earlier changes of the same records.
    mutating func append(_ changes: [StoreChange]) {
        supersede(changes)
        steps += changes
        upgrade?.movedKeys.subtract(
            changes.compactMap { change -> RecordKey? in if case .delete(let key) = change { key } else { nil } })
    }

    /// Adds the changes of an upgrade, which are to be written.
    mutating func append(_ changes: StoreUpgrade) {
        append(changes.changes)
        upgrade = Upgrade(
            size: changes.changes.reduce(0) { $0 + $1.size }, formerKeys: changes.formerKeys,
            movedKeys: Set(changes.formerKeys.values))
    }

    /// The deletions of what the store still has under earlier keys of records that `changes` delete. Otherwise they would come back after a
    /// kill before the upgrade has been written.
    func formerDeletions(of changes: [StoreChange]) -> [StoreChange] {
        guard let formerKeys = upgrade?.formerKeys, !formerKeys.isEmpty else { return [] }
        let former: Set<RecordKey> = Set(
            changes.compactMap { change in if case .delete(let key) = change { formerKeys[key] } else { nil } })
        guard !former.isEmpty else { return [] }
        // Those that have been written since are other records.
        return (attempts.values.joined() + steps).filter { step in
            if case .delete(let key) = step { former.contains(key) } else { false }
        }
    }

    /// Removes the changes of records for which newer changes have been written.
    mutating func supersede(_ changes: [StoreChange]) {
        guard !steps.isEmpty || !attempts.isEmpty else { return }
        let groups = Set(
            changes.compactMap { change in if case .deleteGroup(let name) = change { ExactText(name) } else { nil } })
        let keys = Set(changes.compactMap(\.key))
        let isSuperseded: (StoreChange) -> Bool = { step in
            switch step {
            case .put(let record): keys.contains(record.key) || groups.contains(ExactText(record.key.group))
            case .delete(let key): keys.contains(key) || groups.contains(ExactText(key.group))
            case .deleteGroup(let name): groups.contains(ExactText(name))
            }
        }
        steps.removeAll(where: isSuperseded)
        for attempt in attempts.keys { attempts[attempt]?.removeAll(where: isSuperseded) }
        endSupersededUpgrade()
    }

    /// Forgets an upgrade of which nothing is to be written any more.
    private mutating func endSupersededUpgrade() { if steps.isEmpty, attempts.isEmpty { upgrade = nil } }
}

/// The changes that make the store equal to the cache that was loaded from it.
struct StoreUpgrade: Sendable {
    var changes: [StoreChange]
    /// The keys under which the store has records until then, by the keys that these get.
    var formerKeys: [RecordKey: RecordKey] = [:]
}

extension StoreChange {
    /// The size of the record, or of the name of what is deleted, in bytes.
    fileprivate var size: Int {
        switch self {
        case .put(let record): record.key.key.utf8.count + record.body.count
        case .delete(let key): key.key.utf8.count
        case .deleteGroup(let name): name.utf8.count
        }
    }

    fileprivate var key: RecordKey? {
        switch self {
        case .put(let record): record.key
        case .delete(let key): key
        case .deleteGroup: nil
        }
    }
}
