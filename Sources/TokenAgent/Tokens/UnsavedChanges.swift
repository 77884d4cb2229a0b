internal import TokenStore

/// Changes that could not be written, in their order; of one record the latest only.
///
/// Kept by record, because a later change of the same record may reach the disk first: the older one must not follow it.
struct UnsavedChanges: Sendable {
    private var steps: [StoreChange] = []

    var isEmpty: Bool { steps.isEmpty }

    /// Hands them over to be written, or to be given back with `failed`.
    mutating func take() -> [StoreChange] {
        defer { steps = [] }
        return steps
    }

    /// `changes` could not be written.
    mutating func failed(_ changes: [StoreChange]) {
        supersede(changes)
        steps += changes
    }

    /// `changes` have been written, and with them all that was said earlier of the same records.
    mutating func supersede(_ changes: [StoreChange]) {
        guard !steps.isEmpty else { return }
        let groups = Set(
            changes.compactMap { change in if case .deleteGroup(let group) = change { group } else { nil } })
        supersede(keys: changes.compactMap(\.key), groups: groups)
    }

    /// These records have been written.
    mutating func supersede(keys: [RecordKey], groups: Set<String> = []) {
        let keys = Set(keys)
        steps.removeAll { step in
            switch step {
            case .put(let record): keys.contains(record.key) || groups.contains(record.key.group)
            case .delete(let key): keys.contains(key) || groups.contains(key.group)
            case .deleteGroup(let group): groups.contains(group)
            }
        }
    }
}

extension StoreChange {
    fileprivate var key: RecordKey? {
        switch self {
        case .put(let record): record.key
        case .delete(let key): key
        case .deleteGroup: nil
        }
    }
}
