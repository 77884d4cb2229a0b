internal import TokenModel

/// Which records there are and under which numbers: all that writing needs to know of what was written before.
struct StoreLedger: Sendable {
    private(set) var state = StoreState()
    private var groups: [String: [RecordID: Int64]] = [:]

    /// Where a record is, or would be.
    struct Place: Hashable {
        let group: String
        let id: RecordID
    }

    /// What one commit does to the file, and to this ledger once it is done.
    struct Plan {
        var inserted: [SealedRecord] = []
        var deleted: [Int64] = []
        fileprivate(set) var after: StoreState
        fileprivate var places: [Place: Int64?] = [:]

        var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty }
    }

    /// Takes in a record that was found on disk; false when a later version of it is there already.
    @discardableResult
    mutating func found(
        _ record: SealedRecord, in group: String, _ digest: SetDigest, _ keys: StoreKeys.Derived
    ) -> Bool {
        if let known = groups[group]?[record.id] {
            guard known < record.sequence else { return false }
            state.digest.toggle(record.id, known, keys)
            state.count -= 1
        }
        groups[group, default: [:]][record.id] = record.sequence
        state.digest.toggle(digest)
        state.count += 1
        state.counter = max(state.counter, record.sequence)
        return true
    }

    /// Whether this is the record's latest version.
    func holds(_ record: SealedRecord, in group: String) -> Bool { groups[group]?[record.id] == record.sequence }

    /// No number up to here is given out again.
    mutating func skip(to counter: Int64) { state.counter = max(state.counter, counter) }

    /// Works out a commit; nothing changes yet.
    func plan(_ changes: some Sequence<StoreChange>, _ keys: StoreKeys.Derived) throws(TokenError) -> Plan {
        var plan = Plan(after: state)
        for (place, record) in last(changes, keys) {
            if let old = groups[place.group]?[place.id] {
                plan.deleted.append(old)
                plan.after.digest.toggle(place.id, old, keys)
                plan.after.count -= 1
                plan.places[place] = .some(nil)
            }
            guard let record else { continue }
            plan.after.counter += 1
            let sealed = try SealedRecord(record, id: place.id, sequence: plan.after.counter, keys)
            plan.inserted.append(sealed)
            plan.after.digest.toggle(place.id, sealed.sequence, keys)
            plan.after.count += 1
            plan.places[place] = sealed.sequence
        }
        // A removal by itself takes a number, too: of two states the later is the one with the higher counter.
        if plan.inserted.isEmpty, !plan.deleted.isEmpty { plan.after.counter += 1 }
        return plan
    }

    /// The commit has been made.
    mutating func made(_ plan: Plan) {
        state = plan.after
        for (place, sequence) in plan.places {
            groups[place.group, default: [:]][place.id] = sequence
            if groups[place.group]?.isEmpty == true { groups[place.group] = nil }
        }
    }

    /// What is left of each record after all of the changes, one after the other; nil where it is gone.
    private func last(_ changes: some Sequence<StoreChange>, _ keys: StoreKeys.Derived) -> [Place: StoredRecord?] {
        var last: [Place: StoredRecord?] = [:]
        for change in changes {
            switch change {
            case .put(let record):
                last[Place(group: record.key.group, id: RecordID(record.key, keys))] = record
            case .delete(let key):
                last.updateValue(nil, forKey: Place(group: key.group, id: RecordID(key, keys)))
            case .deleteGroup(let group):
                for place in last.keys where place.group == group { last.updateValue(nil, forKey: place) }
                for id in (groups[group] ?? [:]).keys { last.updateValue(nil, forKey: Place(group: group, id: id)) }
            }
        }
        return last
    }
}
