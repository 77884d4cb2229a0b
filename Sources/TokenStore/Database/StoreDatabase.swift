internal import TokenModel

/// The store's file in SQLite: sealed records by number, the sealed state, and the wrapped key.
///
/// Not safe to share between threads: `Store` keeps it on its queue.
final class StoreDatabase {
    let connection: SQLiteConnection
    private let insert: SQLiteStatement
    private let delete: SQLiteStatement
    private let putState: SQLiteStatement

    /// Takes a connection whose file has this version's tables.
    init(_ connection: SQLiteConnection) throws(TokenError) {
        self.connection = connection
        insert = try connection.prepare("INSERT INTO sealed (sequence, body) VALUES (?, ?)")
        delete = try connection.prepare("DELETE FROM sealed WHERE sequence = ?")
        putState = try connection.prepare("INSERT OR REPLACE INTO state (slot, body) VALUES (?, ?)")
    }

    /// Opens a file and takes it for itself.
    static func connect(
        _ path: String, vfs: String? = nil, keepsLog: Bool = false
    ) throws(TokenError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, vfs: vfs, keepsLog: keepsLog)
        // The lock first: until it is ours, another agent may be in the middle of writing the file.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
        return connection
    }

    /// Makes the tables.
    static func create(_ connection: SQLiteConnection) throws(TokenError) -> StoreDatabase {
        try connection.execute("PRAGMA page_size = 4096")
        try connection.execute(settings)
        try connection.execute("BEGIN IMMEDIATE; \(schema) COMMIT")
        return try StoreDatabase(connection)
    }

    /// Writes a commit and the state after it: all, or nothing.
    func apply(_ plan: StoreLedger.Plan, _ state: Envelope) throws(TokenError) {
        try transaction { () throws(TokenError) in
            try write(plan)
            try write(state)
        }
    }

    /// Writes a part of a commit, within a transaction.
    func write(_ plan: StoreLedger.Plan) throws(TokenError) {
        for sequence in plan.deleted { try delete.run(.integer(sequence)) }
        for record in plan.inserted { try put(record) }
    }

    /// Writes the state after a commit, within its transaction.
    func write(_ state: Envelope) throws(TokenError) { try putState.run(.integer(1), .blob(state.bytes)) }

    /// Writes records as they are, with the state and the key that belong to them.
    func fill(_ records: some Sequence<SealedRecord>, _ state: Envelope, _ key: WrappedKey) throws(TokenError) {
        for record in records { try put(record) }
        try write(state)
        try put(key)
    }

    /// Writes the wrapped key in place of the one before; the log still has that.
    func rewrap(_ key: WrappedKey) throws(TokenError) {
        try transaction { () throws(TokenError) in try put(key) }
    }

    /// The wrapped keys: the same one in two places, so that one damaged page does not cost them all.
    func wrappedKeys() throws(TokenError) -> [WrappedKey] {
        var keys: [WrappedKey] = []
        for table in ["key", "state"] {
            let select = try connection.prepare("SELECT body FROM \(table)")
            while try select.step() {
                if let key = Envelope(select.blob(0)).flatMap(WrappedKey.init) { keys.append(key) }
            }
        }
        return keys
    }

    /// The sealed state; nil when there is none that is genuine.
    func state(_ keys: StoreKeys.Derived) throws(TokenError) -> StoreState? {
        let select = try connection.prepare("SELECT body FROM state WHERE slot = 1")
        return try select.step() ? Envelope(select.blob(0)).flatMap { StoreState($0, keys) } : nil
    }

    /// Every row, in the order of their numbers and up to `most` at a time: the record, if the row holds one of its number.
    func eachBatch(of most: Int, _ body: ([SealedRecord?]) -> Void) throws(TokenError) {
        let select = try connection.prepare("SELECT sequence, body FROM sealed ORDER BY sequence")
        var batch: [SealedRecord?] = []
        while try select.step() {
            let record = Envelope(select.blob(1)).flatMap(SealedRecord.init)
            batch.append(record.flatMap { $0.sequence == select.integer(0) ? $0 : nil })
            guard batch.count == most else { continue }
            body(batch)
            batch.removeAll(keepingCapacity: true)
        }
        body(batch)
    }

    func transaction(_ body: () throws(TokenError) -> Void) throws(TokenError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(TokenError) {
            try body()
            try connection.execute("COMMIT")
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

    static let version = 2
    /// "SSOA" in ASCII: tells the file from other programs' databases.
    static let applicationID = 0x5353_4F41

    /// WAL with FULL flushes at every commit. Deleted records are overwritten, so that a sealed token is gone when it is
    /// gone, and the log is cut back when it has been written into the database.
    static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA journal_size_limit = 1048576;
        """

    static let schema = """
        CREATE TABLE sealed (sequence INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
        CREATE TABLE state (slot INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
        CREATE TABLE key (slot INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """
}
