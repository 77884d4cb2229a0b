/// What becomes of the records of a store while it is loaded.
package protocol RecordReceiver: Sendable {
    /// A record, read.
    associatedtype Item: Sendable

    init()

    /// Reads one record; called on several threads at once.
    static func read(_ record: StoredRecord) -> Item

    /// Takes in what was read; called for one after the other, in the order in which the records were written.
    mutating func take(_ item: Item)
}

extension RecordReceiver {
    init(_ records: [StoredRecord]) {
        self.init()
        for record in records { take(Self.read(record)) }
    }
}

/// The records as they are.
extension [StoredRecord]: RecordReceiver {
    package static func read(_ record: StoredRecord) -> StoredRecord { record }

    package mutating func take(_ record: StoredRecord) { append(record) }
}
