internal import CSQLite
internal import PosixFiles
internal import TokenModel

/// Limits for a file that may be damaged or hostile: what one step of SQLite may cost, and what a row may hold.
///
/// A schema can have views and expressions that compute without end or make a text of a gigabyte, and the pages of a table can
/// refer to each other in circles. SQLite's defensive mode and the check of the schema (`StoreSchema`) forbid the former, the limit
/// of work ends the latter.
///
/// Used by the connection and its statements, on one thread at a time.
final class SQLiteLimits {
    /// The number of calls of the progress handler that are left to the current step.
    private let callsLeft: UnsafeMutablePointer<Int>

    init() {
        callsLeft = .allocate(capacity: 1)
        callsLeft.initialize(to: Self.callsOfStep)
    }

    deinit { callsLeft.deallocate() }

    /// Applies the limits to a connection, which must not outlive this object.
    func apply(to handle: OpaquePointer) -> Int32 {
        _ = Self.heapLimit
        let code = sqlite_defend(handle)
        guard code == SQLITE_OK else { return code }
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(2 * Envelope.limit))
        sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 16)
        sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 16)
        sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 32)
        sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1)
        let handler: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
            guard let callsLeft = context?.assumingMemoryBound(to: Int.self) else { return 1 }
            callsLeft.pointee -= 1
            return callsLeft.pointee < 0 ? 1 : 0
        }
        sqlite3_progress_handler(handle, Self.instructionsOfCall, handler, callsLeft)
        return SQLITE_OK
    }

    /// Gives the next step its share of work. Beyond that, SQLite fails with SQLITE_INTERRUPT, which counts as damage.
    func beginStep() { callsLeft.pointee = Self.callsOfStep }

    /// The statements of the store take a few hundred instructions of SQLite's virtual machine for a step.
    private static let instructionsOfCall: Int32 = 1000
    private static let callsOfStep = 200

    /// The memory of all connections together. The cache of pages has 2 MB, and a record up to 16 MiB.
    private static let heapLimit = sqlite3_hard_heap_limit64(256 << 20)
}

/// The bytes that the rows of a file may still have. Rows do not share bytes, unless their pages refer to each other in circles.
struct RowBudget {
    private let path: String
    private var bytesLeft = 0

    /// The budget for the files of a database.
    init(database path: String) throws(TokenError) {
        self.path = path
        for file in [path, path + "-wal"] { bytesLeft += try PrivateFiles.store.size(of: file) ?? 0 }
    }

    /// Counts a row.
    ///
    /// - Throws: `cacheBadFormat` (-51201) if the rows are longer than the files.
    mutating func count(_ bytes: Int) throws(TokenError) {
        // The shortest row has a header and its number.
        bytesLeft -= max(bytes, 4)
        guard bytesLeft >= 0 else {
            throw TokenError(.cacheBadFormat, "\(path) is damaged: its rows are longer than the file")
        }
    }
}
