internal import TokenModel

/// What an image of the store holds that is genuine.
struct StoreFindings {
    /// The latest version of each record, with the group it is in.
    private(set) var records: [RecordID: (sealed: SealedRecord, opened: SealedRecord.Opened)] = [:]
    /// The latest state of the whole; nil when none was found.
    private(set) var state: StoreState?
    private(set) var ledger = StoreLedger()

    /// Whether no commit was later than that state.
    var isLatest = true

    /// What became of the records, in words.
    var outcome: String {
        if !isComplete { return "\(records.count) records were saved, others are lost or may be out of date" }
        return isLatest
            ? "all \(records.count) records were saved"
            : "\(records.count) records were saved, as they were before the last change"
    }

    /// Whether the records are exactly those of the latest state.
    var isComplete: Bool { state.map { $0.digest == ledger.state.digest && $0.count == ledger.state.count } ?? false }

    /// - Parameter known: what the records are known to be; other versions and other records are left out.
    init(_ envelopes: [Envelope], _ keys: StoreKeys.Derived, asOf known: StoreLedger? = nil) {
        for envelope in envelopes {
            switch envelope.kind {
            case .record: take(envelope, keys, known)
            case .state:
                guard let found = StoreState(envelope, keys) else { continue }
                if state.map({ $0.counter < found.counter }) ?? true { state = found }
            case .key: break
            }
        }
        if let known { state = known.state }
        if let state { ledger.skip(to: state.counter) }
    }

    /// These with the one record of `earlier` that makes them complete; nil where none does.
    ///
    /// What else is only in the earlier ones has been removed since.
    func completed(from earlier: StoreFindings, _ keys: StoreKeys.Derived) -> StoreFindings? {
        guard let state else { return nil }
        for (id, record) in earlier.records where records[id] == nil {
            var digest = ledger.state.digest
            digest.toggle(id, record.sealed.sequence, keys)
            guard digest == state.digest else { continue }
            var whole = self
            whole.take(record.sealed, record.opened, keys)
            return whole.isComplete ? whole : nil
        }
        return nil
    }

    private mutating func take(_ envelope: Envelope, _ keys: StoreKeys.Derived, _ known: StoreLedger?) {
        guard let sealed = SealedRecord(envelope),
            records[sealed.id].map({ $0.sealed.sequence < sealed.sequence }) ?? true,
            let opened = sealed.open(keys), known?.holds(sealed, in: opened.group) ?? true
        else { return }
        take(sealed, opened, keys)
    }

    private mutating func take(_ sealed: SealedRecord, _ opened: SealedRecord.Opened, _ keys: StoreKeys.Derived) {
        records[sealed.id] = (sealed, opened)
        ledger.found(sealed, in: opened.group, opened.digest, keys)
    }
}

extension [Envelope] {
    /// The wrapped keys among them.
    var wrappedKeys: [WrappedKey] { filter { $0.kind == .key }.compactMap(WrappedKey.init) }
}
