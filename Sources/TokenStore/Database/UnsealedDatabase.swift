internal import TokenModel

/// A store of version 1, which was not sealed: read once, and rewritten.
struct UnsealedDatabase {
    static let version = 1
    let connection: SQLiteConnection

    /// Every record that can be read and understood; `isWhole` says whether that is all of them.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the disk cannot be read now; damage is no error.
    func records() throws(TokenError) -> (records: [StoredRecord], isWhole: Bool) {
        var records: [StoredRecord] = []
        var isWhole = true
        do throws(TokenError) {
            let select = try connection.prepare("SELECT sharing_group, kind, key, body FROM record")
            while try select.step() {
                guard let kind = RecordKind(rawValue: Int32(truncatingIfNeeded: select.integer(1))) else {
                    isWhole = false
                    continue
                }
                let key = RecordKey(group: select.text(0), kind: kind, key: select.text(2))
                records.append(StoredRecord(key: key, body: select.blob(3)))
            }
            return (records, isWhole)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            return (records, false)
        }
    }

    /// Seals the records in place, all or none of them. What was dropped has been overwritten in the database; the log
    /// still holds how it was.
    func seal(_ plan: StoreLedger.Plan, _ state: Envelope, _ key: WrappedKey) throws(TokenError) -> StoreDatabase {
        try connection.execute(StoreDatabase.settings)
        try connection.execute("BEGIN IMMEDIATE")
        let database: StoreDatabase
        do throws(TokenError) {
            try connection.execute(StoreDatabase.schema)
            database = try StoreDatabase(connection)
            try database.fill(plan.inserted, state, key)
            try connection.execute("DROP TABLE record; COMMIT")
        } catch {
            connection.rollBack()
            throw error
        }
        return database
    }
}
