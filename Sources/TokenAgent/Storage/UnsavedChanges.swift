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
    /// The size of the records of an earlier version that could not be written, in bytes; 0 once everything has been written.
    private var upgradeSize = 0

    /// Whether there are no changes but those that are being written again.
    var isEmpty: Bool { steps.isEmpty }

    /// Whether a commit in progress writes changes again.
    var areBeingWritten: Bool { !attempts.isEmpty }

    /// The size of all changes in bytes, less that of an upgrade, which no app has added.
    var sizeOfAdditions: Int { max((attempts.values.joined() + steps).reduce(0) { $0 + $1.size } - upgradeSize, 0) }

    /// Whether records of a sharing group are to be deleted, apart from redemption notes, which saved tokens delete.
    func hasRemovals(in group: SharingGroup) -> Bool {
        steps.contains { step in
            switch step {
            case .put: false
            case .delete(let key): key.group == group.name && key.kind != .redemption
            case .deleteGroup(let name): name == group.name
            }
        }
    }

    /// Begins to write all changes again, which no other commit does meanwhile. A newer change of a record that is written meanwhile
    /// supersedes the change here as well.
    ///
    /// - Returns: the changes, and the number with which to end the attempt; nil if there are none.
    mutating func beginWriting() -> (attempt: Int?, steps: [StoreChange]) {
        guard !steps.isEmpty else { return (nil, []) }
        lastAttempt += 1
        attempts[lastAttempt] = steps
        defer { steps = [] }
        return (lastAttempt, steps)
    }

    /// Ends an attempt whose changes have been written.
    mutating func endWriting(_ attempt: Int?) {
        if let attempt { attempts[attempt] = nil }
        if steps.isEmpty, attempts.isEmpty { upgradeSize = 0 }
    }

    /// Ends an attempt that has failed: its changes are to be written again, before newer ones, except for those of records of which there
    /// is a newer change.
    mutating func failWriting(_ attempt: Int?) {
        guard let attempt, let earlier = attempts.removeValue(forKey: attempt) else { return }
        let newer = steps
        steps = earlier
        append(newer)
    }

    /// Adds changes that could not be written; they supersede earlier changes of the same records.
    ///
    /// - Parameter areOfUpgrade: whether they write records of an earlier version as this one stores them.
    mutating func append(_ changes: [StoreChange], areOfUpgrade: Bool = false) {
        supersede(changes)
        steps += changes
        if areOfUpgrade { upgradeSize += changes.reduce(0) { $0 + $1.size } }
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
    }
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
