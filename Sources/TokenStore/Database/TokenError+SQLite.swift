internal import CSQLite
internal import TokenModel

extension TokenError {
    /// What an extended result code means for whoever runs the agent (https://www.sqlite.org/rescode.html).
    init(sqlite code: Int32, path: String) {
        let reason = sqlite3_errstr(code).map { String(cString: $0) } ?? "unknown error"
        switch code & 0xff {
        case SQLITE_FULL:
            self.init(.storeUnavailable, "the disk with \(path) is full; free some space")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_CANTOPEN, SQLITE_AUTH:
            self.init(
                .storeUnavailable,
                "\(path) cannot be written (\(reason)); check its owner, its mode, and that its file system is writable"
            )
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(.storeUnavailable, "\(path) is in use by another process; stop the other sso-agent")
        case SQLITE_IOERR:
            self.init(
                .storeUnavailable,
                "\(path) could not be read or written (\(reason), \(code)); check its disk, quota and file size limit")
        // Our statements do not change: where one makes no sense to SQLite, the tables are not what they were.
        case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_SCHEMA:
            self.init(.cacheBadFormat, "\(path) is damaged or not a database (\(reason))")
        case SQLITE_TOOBIG:
            self.init(.storeUnavailable, "a record is too big for \(path)")
        default:
            self.init(.storeUnavailable, "\(path): \(reason) (\(code))")
        }
    }
}
