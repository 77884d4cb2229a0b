internal import CSQLite
internal import TokenModel

/// A prepared statement. Not safe to share between threads.
final class SQLiteStatement {
    enum Value {
        case integer(Int64)
        case blob([UInt8])
    }

    private let handle: OpaquePointer
    private let path: String

    init(_ handle: OpaquePointer, path: String) {
        self.handle = handle
        self.path = path
    }

    deinit { sqlite3_finalize(handle) }

    /// Runs it once with `values`, and leaves it ready for the next time.
    func run(_ values: Value...) throws(TokenError) {
        defer {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() {
            let status = bind(value, Int32(index + 1))
            guard status == SQLITE_OK else { throw TokenError(sqlite: status, path: path) }
        }
        _ = try step()
    }

    /// Goes to the next row; false when there is none.
    func step() throws(TokenError) -> Bool {
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

    func text(_ column: Int32) -> String {
        String(decoding: blob(column), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        // The pointer before the count: that is the order in which SQLite converts nothing behind our back.
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
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
