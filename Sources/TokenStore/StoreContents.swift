internal import TokenModel

/// What a sealed store holds, as SQLite sees it: opened on every processor, and handed to its receiver batch by batch, so
/// that a large store is never in memory twice.
struct StoreContents<Receiver: RecordReceiver> {
    private(set) var received = Receiver()
    private(set) var ledger = StoreLedger()
    private(set) var state: StoreState?
    private var isReadable = true
    private var rows = 0

    /// Whether there is exactly what the last commit left.
    var isWhole: Bool {
        isReadable && rows == ledger.state.count && state?.count == rows && state?.digest == ledger.state.digest
    }

    /// - Throws: `storeUnavailable` (-53008) when the disk cannot be read now; damage is no error.
    init(_ database: StoreDatabase, _ keys: StoreKeys.Derived) throws(TokenError) {
        do throws(TokenError) {
            state = try database.state(keys)
            try database.eachBatch(of: Self.batch) { take($0, keys) }
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            isReadable = false
        }
    }

    private struct Read: Sendable {
        let sealed: SealedRecord
        let group: String
        let digest: SetDigest
        let item: Receiver.Item?
    }

    private mutating func take(_ batch: [SealedRecord?], _ keys: StoreKeys.Derived) {
        rows += batch.count
        let read = batch.concurrentMap { sealed -> Read? in
            guard let sealed, let opened = sealed.open(keys) else { return nil }
            return Read(
                sealed: sealed, group: opened.group, digest: opened.digest, item: opened.record.map(Receiver.read))
        }
        for case let record? in read {
            ledger.found(record.sealed, in: record.group, record.digest, keys)
            if let item = record.item { received.take(item) }
        }
    }

    /// Enough to keep every processor busy, and some two megabytes.
    private static var batch: Int { 1024 }
}
