internal import TokenModel

/// The store's one table, and the statements kept ready for it.
///
/// Not safe to share between threads: `TokenStore` keeps it on its queue.
final class StoreDatabase {
    private let connection: SQLiteConnection
    private let put: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteGroup: SQLiteStatement

    init(path: String) throws(TokenError) {
        connection = try SQLiteConnection(path: path)
        // The lock first: until it is ours, another agent may be in the middle of making the file.
        try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT")
        let isNew = try Self.isNew(connection, path: path)
        try connection.execute(Self.settings)
        if isNew { try connection.execute(Self.schema) }
        put = try connection.prepare(
            "INSERT OR REPLACE INTO record (sharing_group, kind, key, body) VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM record WHERE sharing_group = ? AND kind = ? AND key = ?")
        deleteGroup = try connection.prepare("DELETE FROM record WHERE sharing_group = ?")
    }

    /// Applies all of `changes` in one transaction, or none.
    func apply(_ changes: some Sequence<StoreChange>) throws(TokenError) {
        try connection.execute("BEGIN IMMEDIATE")
        do throws(TokenError) {
            for change in changes { try apply(change) }
            try connection.execute("COMMIT")
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Every record whose kind is known; those of a later version stay in the file.
    func records() throws(TokenError) -> [StoredRecord] {
        let select = try connection.prepare(
            "SELECT sharing_group, kind, key, body FROM record ORDER BY sharing_group, kind, key")
        var records: [StoredRecord] = []
        while try select.step() {
            guard let kind = RecordKind(rawValue: Int32(truncatingIfNeeded: select.integer(1))) else { continue }
            let key = RecordKey(group: select.text(0), kind: kind, key: select.text(2))
            records.append(StoredRecord(key: key, body: select.blob(3)))
        }
        return records
    }

    func limitPages(to pages: Int) throws(TokenError) -> Int {
        try connection.integer("PRAGMA max_page_count = \(pages)")
    }

    private func apply(_ change: StoreChange) throws(TokenError) {
        switch change {
        case .put(let record):
            try put.run(.text(record.key.group), .kind(record.key.kind), .text(record.key.key), .blob(record.body))
        case .delete(let key):
            try delete.run(.text(key.group), .kind(key.kind), .text(key.key))
        case .deleteGroup(let group):
            try deleteGroup.run(.text(group))
        }
    }

    /// Whether the file has just been made; throws when it is not one that this version can keep.
    private static func isNew(_ connection: SQLiteConnection, path: String) throws(TokenError) -> Bool {
        let version = try connection.integer("PRAGMA user_version")
        let application = try connection.integer("PRAGMA application_id")
        let tables = try connection.integer("SELECT count(*) FROM sqlite_schema")
        if version == 0, application == 0, tables == 0 { return true }
        guard application == applicationID else {
            throw TokenError(.cacheBadFormat, "\(path) is another program's database; move it elsewhere")
        }
        guard version <= schemaVersion else {
            throw TokenError(
                .cacheBadFormat,
                "\(path) was written by a newer sso-agent (format \(version), this one knows \(schemaVersion)); "
                    + "update sso-agent")
        }
        return false
    }

    private static let schemaVersion = 1
    /// "SSOA" in ASCII: tells the file from other programs' databases.
    private static let applicationID = 0x5353_4F41

    /// WAL with FULL flushes at every commit. Deleted tokens are overwritten, and the log is cut back when it has
    /// been written into the database, so that little of them is left in it.
    private static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA journal_size_limit = 1048576;
        """

    private static let schema = """
        BEGIN IMMEDIATE;
        CREATE TABLE record (
            sharing_group TEXT NOT NULL,
            kind INTEGER NOT NULL,
            key TEXT NOT NULL,
            body BLOB NOT NULL,
            PRIMARY KEY (sharing_group, kind, key)
        ) STRICT, WITHOUT ROWID;
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(schemaVersion);
        COMMIT;
        """
}
