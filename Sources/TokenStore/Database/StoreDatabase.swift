internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The tables of the store: sealed records by number, the sealed state, and the wrapped key.
///
/// Not safe to share between threads: `Store` uses it on its queue only.
final class StoreDatabase {
    let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let delete: SQLiteStatement
    private let putState: SQLiteStatement
    /// The write-ahead log in use; nil if it could not be found.
    private let log: FileIdentity?
    /// Whether the file has the number of this version. A file of version 2, which has the same tables, gets it with the first
    /// transaction, since that may write records that version 2 cannot read.
    private var isMarked: Bool

    /// Prepares the statements on a connection whose file has the tables of this version.
    init(_ connection: SQLiteConnection) throws(TokenError) {
        self.connection = connection
        isMarked = try connection.integer("PRAGMA user_version") == Self.version
        insert = try connection.prepare("INSERT INTO sealed (sequence, body) VALUES (?, ?)")
        delete = try connection.prepare("DELETE FROM sealed WHERE sequence = ?")
        putState = try connection.prepare("INSERT OR REPLACE INTO state (slot, body) VALUES (?, ?)")
        // SQLite has made it at the latest when it read the version.
        log = try? FileIdentity(connection.path + "-wal")
    }

    /// Opens a file and locks it exclusively.
    static func connect(
        _ path: String, vfs: String? = nil, keepsLog: Bool = false
    ) throws(TokenError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, vfs: vfs, keepsLog: keepsLog)
        // The lock comes first: without it, another agent may be writing the file.
        try connection.execute(
            "PRAGMA cell_size_check = ON; PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
        return connection
    }

    /// Creates the tables of a new store, and returns the database.
    static func create(_ connection: SQLiteConnection) throws(TokenError) -> StoreDatabase {
        try connection.execute("PRAGMA page_size = \(pageSize)")
        try connection.execute(settings)
        try connection.execute("BEGIN IMMEDIATE; \(schema) COMMIT")
        return try StoreDatabase(connection)
    }

    /// Whether the log was removed or replaced, and the database was not. What is written to a log without a name is lost if the process is
    /// killed.
    var hasLostLog: Bool {
        guard let log, (try? FileIdentity(connection.path + "-wal")) != log else { return false }
        return !connection.hasMoved
    }

    /// The error of a database that has been removed or replaced since it was opened, as by a backup; nil if it is in its place. What is
    /// written to a file without a name is lost when the process ends.
    var displacement: TokenError? { connection.hasMoved ? TokenError.displaced(connection.path) : nil }

    /// Writes a commit and the state after it in one transaction.
    ///
    /// - Parameters:
    ///   - limit: that of `requireRoom(for:upTo:)`.
    ///   - reservesRoom: whether to reserve room for a later commit, and to write nothing if the disk has none.
    func apply(
        _ plan: StoreLedger.Plan, _ state: Envelope, upTo limit: Int, reservesRoom: Bool
    ) throws(TokenError) {
        do throws(TokenError) {
            try commit(plan, state, upTo: limit, reservesRoom)
        } catch {
            // The log may have grown to a thousand pages, most of them of the same few pages of the database, which has room for them.
            guard connection.errorsOfMissingRoom.contains(error), (try? connection.truncateLog()) != nil else {
                throw error
            }
            try commit(plan, state, upTo: limit, reservesRoom)
        }
    }

    private func commit(
        _ plan: StoreLedger.Plan, _ state: Envelope, upTo limit: Int, _ reservesRoom: Bool
    ) throws(TokenError) {
        if reservesRoom { try reserveRoom() }
        try transaction { () throws(TokenError) in
            try write(plan)
            try requireRoom(for: plan, upTo: limit)
            try write(state)
        }
    }

    /// Reserves room in the log for a redemption note, and for the tokens of some responses.
    func reserveRoom() throws(TokenError) { try connection.reserveLog(Self.reservedRoom) }

    /// The size of the database in bytes, without pages that are free.
    var size: Int { (try? usedSize) ?? 0 }

    private var usedSize: Int {
        get throws(TokenError) {
            let pages = try connection.integer("PRAGMA page_count") - connection.integer("PRAGMA freelist_count")
            return pages * Self.pageSize
        }
    }

    /// Refuses a commit that has been written, within the caller's transaction, if it has made the database larger than the limit. Records
    /// of usual length may be renewed up to a thirty-second more, and removed in any case.
    func requireRoom(for plan: StoreLedger.Plan, upTo limit: Int) throws(TokenError) {
        guard !plan.inserted.isEmpty, plan.inserted.count >= plan.deleted.count else { return }
        let renews = plan.inserted.count == plan.deleted.count && !plan.inserted.contains(where: \.isLong)
        guard try usedSize > limit + (renews ? limit / 32 : 0) else { return }
        throw TokenError(
            .storeUnavailable,
            "\(connection.path) has reached \(limit >> 20) MiB, and does not grow any more; sign out of accounts that are not needed",
            .run("ssoctl accounts"))
    }

    /// In bytes.
    static let pageSize = 4096
    /// The room in the log for a redemption note, and for the tokens of some responses, in bytes.
    private static let reservedRoom = 128 << 10

    /// Writes a part of a commit, within the caller's transaction.
    func write(_ plan: StoreLedger.Plan) throws(TokenError) {
        for sequence in plan.deleted { try delete.run(.integer(sequence)) }
        for record in plan.inserted { try put(record) }
    }

    /// Writes the state after a commit, within the caller's transaction.
    func write(_ state: Envelope) throws(TokenError) { try putState.run(.integer(1), .blob(state.bytes)) }

    /// Writes sealed records with their state and key, within the caller's transaction.
    func fill(_ records: some Sequence<SealedRecord>, _ state: Envelope, _ key: WrappedKey) throws(TokenError) {
        for record in records { try put(record) }
        try write(state)
        try put(key)
    }

    /// The wrapped key, which is stored in two tables, so that one damaged page does not lose it.
    func wrappedKeys() throws(TokenError) -> [WrappedKey] {
        var keys: [WrappedKey] = []
        var budget = try RowBudget(database: connection.path)
        for table in ["key", "state"] {
            let select = try connection.prepare("SELECT body FROM \(table)")
            while try select.step() {
                try budget.count(select.count(0))
                if let key = Envelope(select.blob(0)).flatMap(WrappedKey.init) { keys.append(key) }
            }
        }
        return keys
    }

    /// The state; nil if there is none, or it is not authentic.
    func state(_ keys: StoreKeys.Derived) throws(TokenError) -> SealedState? {
        let select = try connection.prepare("SELECT body FROM state WHERE slot = 1")
        return try select.step() ? Envelope(select.blob(0)).flatMap { SealedState($0, keys) } : nil
    }

    /// Passes the records to `body` in the order of their numbers, up to `limit` and about 8 MiB at a time; nil stands for a row
    /// without a record of its number.
    func forEachBatch(of limit: Int, _ body: ([SealedRecord?]) -> Void) throws(TokenError) {
        let select = try connection.prepare("SELECT sequence, body FROM sealed ORDER BY sequence")
        var batch: [SealedRecord?] = []
        var budget = try RowBudget(database: connection.path)
        var size = 0
        while try select.step() {
            try budget.count(select.count(1))
            size += select.count(1)
            let record = Envelope(select.blob(1)).flatMap(SealedRecord.init)
            batch.append(record.flatMap { $0.sequence == select.integer(0) ? $0 : nil })
            guard batch.count == limit || size > 8 << 20 else { continue }
            body(batch)
            batch.removeAll(keepingCapacity: true)
            size = 0
        }
        body(batch)
    }

    /// The records with one of these tags and those without a tag, in the order of their numbers; nil if there are more than
    /// `limit`, or one of them is damaged.
    func records(with tags: Set<AccountTag>, limit: Int) throws(TokenError) -> [SealedRecord]? {
        let select = try connection.prepare("SELECT sequence, body FROM sealed ORDER BY sequence")
        var records: [SealedRecord] = []
        var budget = try RowBudget(database: connection.path)
        while try select.step() {
            try budget.count(select.count(1))
            let isAsked = select.withBlob(1) { bytes in AccountTag(sealed: bytes).map(tags.contains) ?? true }
            guard isAsked else { continue }
            guard records.count < limit, let record = Envelope(select.blob(1)).flatMap(SealedRecord.init),
                record.sequence == select.integer(0)
            else { return nil }
            records.append(record)
        }
        return records
    }

    /// The record with a number; nil if there is none, or it is damaged.
    func record(_ sequence: Int64, _ select: SQLiteStatement) throws(TokenError) -> SealedRecord? {
        try select.query(.integer(sequence)) { row in
            Envelope(row.blob(0)).flatMap(SealedRecord.init).flatMap { $0.sequence == sequence ? $0 : nil }
        }
    }

    /// The statement for `record(_:_:)`.
    func selectRecord() throws(TokenError) -> SQLiteStatement {
        try connection.prepare("SELECT body FROM sealed WHERE sequence = ?")
    }

    /// Up to `limit` records with numbers after `first` and up to `last`, in their order; nil stands for a row without a record
    /// of its number.
    func batch(after first: Int64, upTo last: Int64, limit: Int) throws(TokenError) -> [SealedRecord?] {
        let select = try connection.prepare(
            "SELECT sequence, body FROM sealed WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?")
        try select.bind(.integer(first), .integer(last), .integer(Int64(limit)))
        var batch: [SealedRecord?] = []
        while try select.step() {
            let record = Envelope(select.blob(1)).flatMap(SealedRecord.init)
            batch.append(record.flatMap { $0.sequence == select.integer(0) ? $0 : nil })
        }
        return batch
    }

    /// Replaces records by others, within the caller's transaction.
    func replace(_ old: some Sequence<SealedRecord>, with new: some Sequence<SealedRecord>) throws(TokenError) {
        for record in old { try delete.run(.integer(record.sequence)) }
        for record in new { try put(record) }
    }

    /// Makes what `body` writes durable, or nothing.
    ///
    /// - Throws: what `body` throws; `storeUnavailable` (-53008) also if the file has been removed or replaced, as by a backup.
    func transaction(_ body: () throws(TokenError) -> Void) throws(TokenError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(TokenError) {
            if !isMarked { try connection.execute("PRAGMA user_version = \(Self.version)") }
            try body()
            if let displacement { throw displacement }
            try connection.execute("COMMIT")
            isMarked = true
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private func put(_ record: SealedRecord) throws(TokenError) {
        try insert.run(.integer(record.sequence), .blob(record.envelope.bytes))
    }

    private func put(_ key: WrappedKey) throws(TokenError) {
        let statement = try connection.prepare("INSERT OR REPLACE INTO key (slot, body) VALUES (1, ?)")
        try statement.run(.blob(key.envelope.bytes))
        try putState.run(.integer(2), .blob(key.envelope.bytes))
    }

    static let version = 3
    /// The versions whose files have the tables of this version.
    static let readableVersions = [2, 3]
    /// "SSOA" in ASCII: distinguishes the file from the databases of other programs.
    static let applicationID = 0x5353_4F41

    /// Every commit is flushed (WAL with FULL), on macOS out of the disk's cache too, as far as its SQLite does that (fullfsync; without
    /// effect on other systems). Deleted records are overwritten, so that no sealed token remains in free pages. The log, which has them
    /// until then, is cut to 1 MiB after it has been written into the database, and emptied by `Store.truncateLog`.
    static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA fullfsync = ON;
        PRAGMA checkpoint_fullfsync = ON;
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA journal_size_limit = 1048576;
        """

    /// Not `STRICT`, as they were before 0.1.0: SQLite has that since 3.37, and an older one takes a store with such tables for damaged. Each
    /// body is authenticated, so that its type need not be checked.
    static let tables = [
        "CREATE TABLE sealed (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        "CREATE TABLE state (slot INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        "CREATE TABLE key (slot INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    ]

    static let schema = """
        \(tables.joined(separator: ";\n"));
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """
}

extension TokenError {
    /// The error of a file or a folder that has been removed or replaced while it is in use, as by a backup.
    static func displaced(_ path: String) -> TokenError {
        TokenError(
            .storeUnavailable,
            "\(path) was removed or replaced by another program; to have the agent use what is there now",
            .purpose("kill \(getpid())"))
    }
}
