internal import CSQLite
internal import TokenModel

/// One open database file. Not safe to share between threads.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private let path: String

    /// Opens an existing file; it is not read before the first statement.
    ///
    /// - Parameters:
    ///   - vfs: the name of SQLite's way to the disk; nil is the system's. Tests put a worse one in.
    ///   - keepsLog: whether closing it leaves the log as it is, for a file that may be damaged. Otherwise SQLite writes
    ///     what it sees of the log into the database, and removes it.
    init(path: String, vfs: String? = nil, keepsLog: Bool = false) throws(TokenError) {
        var handle: OpaquePointer?
        // NOMUTEX: only one thread at a time has a connection.
        let status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs)
        guard status == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw TokenError(sqlite: status, path: path)
        }
        self.handle = handle
        self.path = path
        keepLog(keepsLog)
    }

    deinit { sqlite3_close_v2(handle) }

    func keepLog(_ keeps: Bool) { _ = sqlite_keep_log(handle, keeps ? 1 : 0) }

    /// Writes the log into the database, and cuts it to nothing.
    func cutLog() throws(TokenError) { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Runs one or more statements, and passes over their rows.
    func execute(_ sql: String) throws(TokenError) {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws(TokenError) -> Int {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func prepare(_ sql: String) throws(TokenError) -> SQLiteStatement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw TokenError(sqlite: SQLITE_MISUSE, path: path) }
        return SQLiteStatement(statement, path: path)
    }

    /// Ends a failed transaction; nothing happens where SQLite has ended it already.
    func rollBack() {
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    private func check(_ status: Int32) throws(TokenError) {
        guard status == SQLITE_OK else { throw TokenError(sqlite: sqlite3_extended_errcode(handle), path: path) }
    }
}
