internal import CAgentSystem
internal import CSQLite
internal import PosixFiles
package import TokenModel

/// A connection to a database file. Not safe to share between threads.
final class SQLiteConnection {
    private let handle: OpaquePointer
    private let limits = SQLiteLimits()
    let path: String

    /// Opens an existing file. It is not read before the first statement.
    ///
    /// - Parameters:
    ///   - vfs: the name of SQLite's VFS; nil for the system's. Tests use one that fails.
    ///   - keepsLog: whether the log stays unchanged when the connection is closed, as for a file that may be damaged.
    ///     Otherwise SQLite writes the log into the database and removes it.
    init(path: String, vfs: String? = nil, keepsLog: Bool = false) throws(TokenError) {
        var handle: OpaquePointer?
        // NOMUTEX: a connection is used by one thread at a time.
        let status = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs)
        guard status == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw TokenError(sqlite: status, path: path)
        }
        self.handle = handle
        self.path = path
        let code = limits.apply(to: handle)
        guard code == SQLITE_OK else { throw TokenError(sqlite: code, path: path) }
        keepLog(keepsLog)
    }

    deinit { sqlite3_close_v2(handle) }

    func keepLog(_ keeps: Bool) { _ = sqlite_keep_log(handle, keeps ? 1 : 0) }

    /// Writes the log into the database, and truncates it.
    func truncateLog() throws(TokenError) { try execute("PRAGMA wal_checkpoint(TRUNCATE)") }

    /// Waits until the log, which may be that of a process that was killed, and its name have reached the disk.
    func synchronizeLog() throws(TokenError) {
        let status = sqlite_synchronize_log(handle)
        guard status == SQLITE_OK else { throw TokenError(sqlite: status, path: path) }
        try PrivateFiles.store.synchronizeFolder(of: path)
    }

    /// Reserves room on the disk for what is written to the log next. Closing the log again releases no lock: those are on the database.
    func reserveLog(_ count: Int) throws(TokenError) {
        guard agent_reserve_room(path + "-wal", Int64(count)) == 0 else {
            throw TokenError(sqlite: SQLITE_FULL, path: path)
        }
    }

    /// The errors of a write for which there is no room: on the disk, or within a quota or the limit of a file's size.
    var errorsOfMissingRoom: [TokenError] {
        // SQLITE_IOERR_WRITE, a macro that Swift does not import.
        [SQLITE_FULL, SQLITE_IOERR | 3 << 8].map { TokenError(sqlite: $0, path: path) }
    }

    /// Whether the path leads to another file than the open one, or to none. What is written to the open one is lost when it is closed.
    var hasMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// Runs one or more statements, and ignores their rows.
    func execute(_ sql: String) throws(TokenError) {
        limits.beginStep()
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// The first column of the first row; 0 if there is none.
    func integer(_ sql: String) throws(TokenError) -> Int {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func prepare(_ sql: String) throws(TokenError) -> SQLiteStatement {
        var statement: OpaquePointer?
        // This may read the schema.
        limits.beginStep()
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw TokenError(sqlite: SQLITE_MISUSE, path: path) }
        return SQLiteStatement(statement, limits, path: path)
    }

    /// Rolls back a failed transaction; has no effect if SQLite has ended it already.
    func rollBack() {
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    private func check(_ status: Int32) throws(TokenError) {
        guard status == SQLITE_OK else { throw TokenError(sqlite: sqlite3_extended_errcode(handle), path: path) }
    }
}

/// A prepared statement. Not safe to share between threads.
final class SQLiteStatement {
    enum Value {
        case integer(Int64)
        case blob([UInt8])
    }

    private let handle: OpaquePointer
    private let limits: SQLiteLimits
    private let path: String

    init(_ handle: OpaquePointer, _ limits: SQLiteLimits, path: String) {
        self.handle = handle
        self.limits = limits
        self.path = path
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs the statement with `values`, and resets it for the next run.
    func run(_ values: Value...) throws(TokenError) {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        try bind(values)
        _ = try step()
    }

    /// Runs the statement with `values`, passes its first row to `body`, and resets it for the next run. Nil if there is no row.
    func query<Result>(_ values: Value..., body: (SQLiteStatement) -> Result?) throws(TokenError) -> Result? {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        try bind(values)
        return try step() ? body(self) : nil
    }

    /// Sets the parameters of a statement that is used once.
    func bind(_ values: Value...) throws(TokenError) { try bind(values) }

    private func bind(_ values: [Value]) throws(TokenError) {
        for (index, value) in values.enumerated() {
            let status = bind(value, Int32(index + 1))
            guard status == SQLITE_OK else { throw TokenError(sqlite: status, path: path) }
        }
    }

    /// Goes to the next row; returns false if there is none.
    func step() throws(TokenError) -> Bool {
        limits.beginStep()
        let status = sqlite3_step(handle)
        switch status {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw TokenError(sqlite: sqlite3_extended_errcode(sqlite3_db_handle(handle)), path: path)
        }
    }

    func integer(_ column: Int32) -> Int {
        Int(sqlite3_column_int64(handle, column))
    }

    /// The length of a value, in bytes.
    func count(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

    func text(_ column: Int32) -> String {
        String(decoding: blob(column), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        // SQLite requires the pointer before the count: the reverse order may convert the value and invalidate the pointer.
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    /// Passes a value to `body` without copying it; the pointer is valid during the call only.
    func withBlob<Result>(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // The pointer is requested before the count, as above.
        let start = sqlite3_column_blob(handle, column)
        return body(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    private func bind(_ value: Value, _ index: Int32) -> Int32 {
        // SQLITE_TRANSIENT, a macro that Swift does not import: SQLite copies the bytes before the call returns.
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number):
            return sqlite3_bind_int64(handle, index, number)
        case .blob(let bytes):
            // A null pointer would bind NULL.
            if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), copying)
        }
    }
}

extension TokenError {
    /// The error for an extended result code (https://www.sqlite.org/rescode.html), with what the user can do.
    init(sqlite code: Int32, path: String) {
        let reason = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
        let folder = PrivateFiles.parent(of: path)
        switch code & 0xff {
        case SQLITE_FULL:
            self.init(.storeUnavailable, "the disk with \(path) is full; free some space")
            details.nextCommand = PrivateFiles.showingRoom(in: folder)
        // SQLite has to make its log.
        case SQLITE_CANTOPEN where PrivateFiles.lacksInodes(folder):
            self.init(.storeUnavailable, "the disk with \(path) has no inode for another file; remove some files there")
            details.nextCommand = PrivateFiles.showingRoom(in: folder)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
            let remedy = PrivateFiles.reading(path).map { Remedy.run($0) }
            let words = remedy == nil ? "; check its owner, its mode, and that its file system is writable" : ""
            self.init(.storeUnavailable, "\(path) cannot be written (\(reason))\(words)", remedy)
        case SQLITE_BUSY, SQLITE_LOCKED:
            self = .databaseInUse(path)
        case SQLITE_IOERR:
            self.init(
                .storeUnavailable,
                "\(path) could not be read or written (\(reason), \(code)); check its disk, quota and file size limit")
        // The statements are constant: if SQLite rejects one, the tables have been changed.
        case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_SCHEMA:
            self.init(.cacheBadFormat, "\(path) is damaged or not a database (\(reason))")
        // A step took more work than any statement of the store does.
        case SQLITE_INTERRUPT:
            self.init(.cacheBadFormat, "\(path) is damaged: reading it does not end")
        // The store writes no record of this length (`Envelope.limit`).
        case SQLITE_TOOBIG:
            self.init(.cacheBadFormat, "\(path) is damaged: a row is longer than any record")
        default:
            self.init(.storeUnavailable, "\(path): \(reason) (\(code))")
        }
    }

    /// The error of a database that another process has locked.
    static func databaseInUse(_ path: String) -> TokenError {
        TokenError(
            .storeUnavailable,
            "\(path) is in use by another process; stop the other sso-agent, which may be on another machine with the same home "
                + "folder")
    }
}

/// The version of the system's SQLite.
///
/// With one that does not know what the store uses, each sign-in would fail, and a store that another machine has written would be taken for
/// damaged.
package enum SQLiteVersion {
    /// Checks that the system's SQLite can read and write a store.
    ///
    /// - Throws: `agentUnavailable` (-53004) with its version if it is too old.
    package static func requireSupported() throws(TokenError) {
        try requireSupported(sqlite3_libversion_number())
    }

    /// - Parameter number: a version as SQLite counts it: 3,034,001 is 3.34.1.
    static func requireSupported(_ number: Int32) throws(TokenError) {
        guard number < oldest else { return }
        throw TokenError(
            .agentUnavailable,
            "the system's SQLite is \(text(number)), and the agent needs \(text(oldest)) or later; docs/packages.md lists the systems that "
                + "have it")
    }

    private static func text(_ number: Int32) -> String {
        "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }

    /// That of RHEL 9: the oldest with which stores have been made and read. `sqlite_schema` is known since 3.33.
    private static let oldest: Int32 = 3_034_000
}
