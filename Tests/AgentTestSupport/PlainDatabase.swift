internal import CStoreFaults

/// A database of SQLite without the limits of a store: for files that a store would not write.
package enum PlainDatabase {
    package struct Failure: Error {
        package let code: Int32
    }

    /// The header of a store of a version: what SQLite calls the user version and the application ID.
    package static func header(version: Int) -> String {
        "PRAGMA user_version = \(version); PRAGMA application_id = 1397968705; "
    }

    /// Runs statements on the database at a path, which is created if it does not exist.
    package static func execute(_ sql: String, at path: String) throws {
        let code = store_faults_execute(path, sql)
        guard code == 0 else { throw Failure(code: code) }
    }
}
