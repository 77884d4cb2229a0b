internal import TokenModel
internal import TokenStore

/// The changes that could not be written, in order, with the latest change of each record only.
///
/// A later change of a record supersedes the earlier one: once it is written, the earlier one must not be written after it.
struct UnsavedChanges: Sendable {
    private var steps: [StoreChange] = []

    var isEmpty: Bool { steps.isEmpty }

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

    /// Removes and returns all changes. Those that cannot be written again are to be appended again.
    mutating func removeAll() -> [StoreChange] {
        defer { steps = [] }
        return steps
    }

    /// Adds changes that could not be written; they supersede earlier changes of the same records.
    mutating func append(_ changes: [StoreChange]) {
        supersede(changes)
        steps += changes
    }

    /// Removes the changes of records for which newer changes have been written.
    mutating func supersede(_ changes: [StoreChange]) {
        guard !steps.isEmpty else { return }
        let groups = Set(
            changes.compactMap { change in if case .deleteGroup(let name) = change { ExactText(name) } else { nil } })
        supersede(keys: changes.compactMap(\.key), groups: groups)
    }

    /// Removes the changes of records that have been written.
    mutating func supersede(keys: [RecordKey], groups: Set<ExactText> = []) {
        let keys = Set(keys)
        steps.removeAll { step in
            switch step {
            case .put(let record): keys.contains(record.key) || groups.contains(ExactText(record.key.group))
            case .delete(let key): keys.contains(key) || groups.contains(ExactText(key.group))
            case .deleteGroup(let name): groups.contains(ExactText(name))
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
