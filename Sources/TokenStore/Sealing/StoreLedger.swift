internal import Crypto
internal import TokenModel

/// The sequence number of every record on disk, by group and identity, and the state of the store.
struct StoreLedger: Sendable {
    private(set) var state = SealedState()
    /// The numbers by the group, whose name is compared by its bytes.
    private var groups: [ExactText: [RecordID: Int64]] = [:]

    /// The group and identity of a record.
    struct Place: Hashable {
        let group: ExactText
        let id: RecordID
    }

    /// The effect of a commit on the file and on the ledger.
    struct Plan {
        var inserted: [SealedRecord] = []
        var deleted: [Int64] = []
        fileprivate(set) var after: SealedState
        fileprivate var places: [Place: Int64?] = [:]

        var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty }
    }

    /// Adds a record that was found on disk, unless a later version of it was found before.
    mutating func add(_ record: SealedRecord, in group: String, _ digest: SetDigest, _ keys: StoreKeys.Derived) {
        let group = ExactText(group)
        if let known = groups[group]?[record.id] {
            guard known < record.sequence else { return }
            state.digest.toggle(record.id, known, keys)
            state.count -= 1
        }
        groups[group, default: [:]][record.id] = record.sequence
        state.digest.toggle(digest)
        state.count += 1
        state.counter = max(state.counter, record.sequence)
    }

    /// Whether this is the latest version of the record.
    func holds(_ record: SealedRecord, in group: String) -> Bool {
        groups[ExactText(group)]?[record.id] == record.sequence
    }

    /// The number of the latest version of a record; nil if there is no such record.
    func sequence(of key: RecordKey, _ keys: StoreKeys.Derived) -> Int64? {
        groups[ExactText(key.group)]?[RecordID(key, keys)]
    }

    /// Marks all numbers up to `counter` as used.
    mutating func markUsed(upTo counter: Int64) { state.counter = max(state.counter, counter) }

    /// Continues with the numbers behind the last one of a state, and with its mark.
    mutating func continueNumbering(from earlier: SealedState) {
        markUsed(upTo: earlier.counter)
        state.mark = earlier.mark
    }

    /// Sets the mark in a state that is later than the present one.
    mutating func set(_ mark: RollbackMark) {
        state.counter += 1
        state.mark = mark
    }

    /// Computes the effect of a commit; nothing is changed yet.
    func plan(_ changes: some Sequence<StoreChange>, _ keys: StoreKeys.Derived) throws(TokenError) -> Plan {
        var plan = Plan(after: state)
        for (place, record) in lastVersions(changes, keys) {
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
        // A commit that only removes records takes a number too: of two states, the one with the higher counter is the
        // later.
        if plan.inserted.isEmpty, !plan.deleted.isEmpty { plan.after.counter += 1 }
        return plan
    }

    /// Updates the ledger after a commit.
    mutating func apply(_ plan: Plan) {
        state = plan.after
        for (place, sequence) in plan.places {
            groups[place.group, default: [:]][place.id] = sequence
            if groups[place.group]?.isEmpty == true { groups[place.group] = nil }
        }
    }

    /// The last version of each record after all of the changes; nil if it is deleted.
    private func lastVersions(
        _ changes: some Sequence<StoreChange>, _ keys: StoreKeys.Derived
    ) -> [Place: StoredRecord?] {
        var last: [Place: StoredRecord?] = [:]
        for change in changes {
            switch change {
            case .put(let record):
                last[Place(group: ExactText(record.key.group), id: RecordID(record.key, keys))] = record
            case .delete(let key):
                last.updateValue(nil, forKey: Place(group: ExactText(key.group), id: RecordID(key, keys)))
            case .deleteGroup(let name):
                let group = ExactText(name)
                for place in last.keys where place.group == group { last.updateValue(nil, forKey: place) }
                for id in (groups[group] ?? [:]).keys { last.updateValue(nil, forKey: Place(group: group, id: id)) }
            }
        }
        return last
    }
}

/// The state of the store as a whole, sealed with every commit: the last sequence number, the number of records, and their
/// digest. It shows whether a record was replaced by an earlier version, removed or restored.
struct SealedState: Sendable, Equatable {
    var counter: Int64 = 0
    var count = 0
    var digest = SetDigest()
    /// The mark of the rollback counter; nil if the store has none.
    var mark: RollbackMark?

    init() {}

    /// Whether the records are the same. After a commit that has failed, the last number used may be higher.
    func hasSameRecords(as other: SealedState) -> Bool {
        count == other.count && digest == other.digest && mark == other.mark
    }

    func sealed(_ keys: StoreKeys.Derived) throws(TokenError) -> Envelope {
        var head: [UInt8] = []
        head.append(number: counter)
        var content: [UInt8] = []
        content.append(number: Int64(count))
        content += digest.bytes
        if let mark { content += mark.bytes }
        return try Envelope(.state, head: head, content: content, with: keys.sealing)
    }

    /// Returns nil if the envelope is not authentic.
    init?(_ envelope: Envelope, _ keys: StoreKeys.Derived) {
        var head = ByteReader(envelope.head)
        guard envelope.kind == .state, let counter = head.number(Int64.self),
            let content = envelope.open(with: keys.sealing)
        else { return nil }
        var reader = ByteReader(content[...])
        guard let count = reader.number(Int64.self), let digest = SetDigest(&reader) else { return nil }
        (self.counter, self.count, self.digest) = (counter, Int(count), digest)
        mark = RollbackMark(&reader)
    }
}

/// The password and the count of the store's counter of a TPM (`RollbackCounter`), which the state of the store contains.
struct RollbackMark: Sendable, Equatable {
    /// The password of the counter, which no other store has.
    let password: [UInt8]
    /// The count that belongs to this state. That of the TPM is the same, or one less, if the agent was killed between the two.
    var count: UInt64

    static let passwordLength = 32

    init(password: [UInt8], count: UInt64) {
        self.password = password
        self.count = count
    }

    init?(_ reader: inout ByteReader) {
        guard let password = reader.bytes(Self.passwordLength), let count = reader.number(UInt64.self) else {
            return nil
        }
        self.init(password: Array(password), count: count)
    }

    var bytes: [UInt8] {
        var bytes = password
        bytes.append(number: count)
        return bytes
    }
}

/// A digest of a set of records: the XOR of a keyed hash of each, so that it can be updated for one record.
///
/// Without the key the hashes are unknown; with them, another set with the same digest could be computed.
struct SetDigest: Sendable, Equatable {
    private var words: SIMD4<UInt64> = .zero

    init() {}

    init?(_ reader: inout ByteReader) {
        for index in 0..<4 {
            guard let word = reader.number(UInt64.self) else { return nil }
            words[index] = word
        }
    }

    /// The digest of one record.
    init(_ id: RecordID, _ sequence: Int64, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(id)
        name.append(number: sequence)
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.digest))[...])
        for index in 0..<4 { words[index] = reader.number(UInt64.self) ?? 0 }
    }

    /// Adds a record to the set or, if it is in the set, removes it.
    mutating func toggle(_ id: RecordID, _ sequence: Int64, _ keys: StoreKeys.Derived) {
        toggle(SetDigest(id, sequence, keys))
    }

    /// Adds or removes a record by its digest.
    mutating func toggle(_ record: SetDigest) { words ^= record.words }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<4 { bytes.append(number: words[index]) }
        return bytes
    }
}
