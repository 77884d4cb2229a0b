/// The authentic records and the state found in an image of the store.
struct StoreFindings {
    /// The latest version of each record, sealed and opened.
    private(set) var records: [RecordID: (sealed: SealedRecord, opened: SealedRecord.Opened)] = [:]
    /// The latest state; nil if none was found.
    private(set) var state: SealedState?
    private(set) var ledger = StoreLedger()

    /// Whether the state is that of the last commit.
    var isLatest = true

    /// A description of what was recovered.
    var outcome: String {
        if !isComplete { return "\(records.count) records were saved, others are lost or may be out of date" }
        return isLatest
            ? "all \(records.count) records were saved"
            : "\(records.count) records were saved, as they were before the last change"
    }

    /// Whether the records are exactly those of the latest state.
    var isComplete: Bool { state.map { $0.digest == ledger.state.digest && $0.count == ledger.state.count } ?? false }

    /// - Parameter known: the ledger of the records, if it is known; other versions and other records are ignored.
    init(_ envelopes: [Envelope], _ keys: StoreKeys.Derived, asOf known: StoreLedger? = nil) {
        for envelope in envelopes {
            switch envelope.kind {
            case .record, .taggedRecord: add(envelope, keys, known)
            case .state:
                guard let found = SealedState(envelope, keys) else { continue }
                if state.map({ $0.counter < found.counter }) ?? true { state = found }
            case .key: break
            }
        }
        if let known { state = known.state }
        if let state { ledger.continueNumbering(from: state) }
    }

    /// These findings with the one record of `earlier` that makes them complete; nil if none does.
    ///
    /// The other records that only `earlier` has were removed later.
    func completed(from earlier: StoreFindings, _ keys: StoreKeys.Derived) -> StoreFindings? {
        guard let state else { return nil }
        for (id, record) in earlier.records where records[id] == nil {
            var digest = ledger.state.digest
            digest.toggle(id, record.sealed.sequence, keys)
            guard digest == state.digest else { continue }
            var whole = self
            whole.add(record.sealed, record.opened, keys)
            return whole.isComplete ? whole : nil
        }
        return nil
    }

    private mutating func add(_ envelope: Envelope, _ keys: StoreKeys.Derived, _ known: StoreLedger?) {
        guard let sealed = SealedRecord(envelope),
            records[sealed.id].map({ $0.sealed.sequence < sealed.sequence }) ?? true,
            let opened = sealed.open(keys), known?.holds(sealed, in: opened.group) ?? true
        else { return }
        add(sealed, opened, keys)
    }

    private mutating func add(_ sealed: SealedRecord, _ opened: SealedRecord.Opened, _ keys: StoreKeys.Derived) {
        records[sealed.id] = (sealed, opened)
        ledger.add(sealed, in: opened.group, opened.digest, keys)
    }
}

extension [Envelope] {
    /// The wrapped keys among them.
    var wrappedKeys: [WrappedKey] { filter { $0.kind == .key }.compactMap(WrappedKey.init) }
}
