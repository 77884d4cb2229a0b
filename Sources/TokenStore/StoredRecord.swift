internal import TokenModel

/// A record of the store: a key, and bytes that the store does not interpret.
package struct StoredRecord: Sendable, Equatable {
    package var key: RecordKey
    package var body: [UInt8]
    package var account: RecordAccount

    package init(key: RecordKey, body: [UInt8], account: RecordAccount = .unknown) {
        self.key = key
        self.body = body
        self.account = account
    }
}

/// The account of a record, by which the records of one account are found before every record has been opened.
package enum RecordAccount: Sendable, Hashable {
    /// The account is not known, since version 2 did not store it. The record is found for every account.
    case unknown
    /// The record is found for every account.
    case everyAccount
    /// The record is found for no account.
    case noAccount
    /// The record is found for the account with this identifier.
    case account(String)
}

extension StoredRecord: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length only: the body may hold a token, and the key a name.
    package var description: String { "<record, \(body.count) bytes>" }
    /// The text of `description`.
    package var debugDescription: String { description }
    /// Shows nothing, so that `dump` of an enclosing value shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The key of a record, unique in the store.
package struct RecordKey: Sendable, Hashable {
    /// The name of the sharing group.
    package var group: String
    package var kind: RecordKind
    /// Unique within the group and kind.
    package var key: String

    package init(group: String, kind: RecordKind, key: String) {
        self.group = group
        self.kind = kind
        self.key = key
    }

    /// Keys are equal if their bytes are: those are what names a record on the disk.
    package static func == (left: RecordKey, right: RecordKey) -> Bool {
        left.kind == right.kind && left.key.hasSameBytes(as: right.key) && left.group.hasSameBytes(as: right.group)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        key.hashBytes(into: &hasher)
        group.hashBytes(into: &hasher)
    }
}

/// The kind of a record. The numbers are on disk: they are never changed or reused.
package enum RecordKind: Int32, Sendable, CaseIterable {
    case account = 1
    case accessToken = 2
    case refreshToken = 3
    case idToken = 4
    case appMetadata = 5
    case accountMetadata = 6
    case cloud = 7
    case currentAccount = 8
    case redemption = 9
    case opaque = 10
}

/// A change of one record, or of all records of a group.
package enum StoreChange: Sendable, Equatable {
    /// Writes a record, in place of any record with the same key.
    case put(StoredRecord)
    /// Deletes a record; has no effect if there is none.
    case delete(RecordKey)
    /// Deletes every record of a sharing group.
    case deleteGroup(String)

    /// Whether the change is of a whole sharing group.
    package var isOfGroup: Bool { if case .deleteGroup = self { true } else { false } }

    /// Whether the change writes a redemption note.
    var beginsRedemption: Bool { if case .put(let record) = self { record.key.kind == .redemption } else { false } }

    /// Whether a record is longer than one in the store can be.
    package var isTooLong: Bool {
        guard case .put(let record) = self else { return false }
        let account = if case .account(let account) = record.account { account.utf8.count } else { 0 }
        return record.body.count + record.key.key.utf8.count + record.key.group.utf8.count + account
            > Envelope.longestRecord
    }
}

/// The limits of what a store has.
package enum StoreLimits {
    /// The size up to which a database grows, in bytes. A commit that would make it larger fails, as on a full disk.
    package static let size = 1 << 30
}

/// Collects the records of a store while it is loaded.
package protocol RecordReceiver: Sendable {
    /// A decoded record.
    associatedtype Item: Sendable
    /// The state that the decoding of many records shares; each thread has its own.
    associatedtype Context

    init()

    /// - Parameter canReadAgain: whether the records can be read again later, by their keys.
    static func makeContext(canReadAgain: Bool) -> Context

    /// Decodes one record. Called on several threads at once.
    static func decode(_ record: StoredRecord, _ context: Context) -> Item

    /// Adds a decoded record. Called for one record at a time, in the order in which they were written.
    mutating func add(_ item: Item)
}

extension RecordReceiver {
    package init(_ records: [StoredRecord]) {
        self.init()
        let context = Self.makeContext(canReadAgain: false)
        for record in records { add(Self.decode(record, context)) }
    }
}

/// Collects the records without decoding them.
extension [StoredRecord]: RecordReceiver {
    package static func makeContext(canReadAgain: Bool) {}

    package static func decode(_ record: StoredRecord, _ context: Void) -> StoredRecord { record }

    package mutating func add(_ record: StoredRecord) { append(record) }
}
