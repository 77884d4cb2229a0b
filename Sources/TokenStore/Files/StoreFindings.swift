internal import TokenModel

/// What an image of the store holds that is genuine.
struct StoreFindings {
    /// The latest version of each record, with the group it is in.
    private(set) var records: [RecordID: (sealed: SealedRecord, opened: SealedRecord.Opened)] = [:]
    /// The latest state of the whole; nil when none was found.
    private(set) var state: StoreState?
    private(set) var ledger = StoreLedger()

    /// Whether the records are exactly those of the latest state.
    var isComplete: Bool { state.map { $0.digest == ledger.state.digest && $0.count == ledger.state.count } ?? false }

    init(_ envelopes: [Envelope], _ keys: StoreKeys.Derived) {
        for envelope in envelopes {
            switch envelope.kind {
            case .record: take(envelope, keys)
            case .state:
                guard let found = StoreState(envelope, keys) else { continue }
                if state.map({ $0.counter < found.counter }) ?? true { state = found }
            case .key: break
            }
        }
        if let state { ledger.skip(to: state.counter) }
    }

    private mutating func take(_ envelope: Envelope, _ keys: StoreKeys.Derived) {
        guard let sealed = SealedRecord(envelope),
            records[sealed.id].map({ $0.sealed.sequence < sealed.sequence }) ?? true,
            let opened = sealed.open(keys)
        else { return }
        records[sealed.id] = (sealed, opened)
        ledger.found(sealed, in: opened.group, opened.digest, keys)
    }
}

extension [Envelope] {
    /// The wrapped keys among them.
    var wrappedKeys: [WrappedKey] { filter { $0.kind == .key }.compactMap(WrappedKey.init) }
}
