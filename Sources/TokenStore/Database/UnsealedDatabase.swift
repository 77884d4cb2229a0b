internal import TokenModel

/// A store of version 1, which was not sealed. It is read once and sealed.
struct UnsealedDatabase {
    static let version = 1
    let connection: SQLiteConnection

    /// Every record that can be read and is of a known kind; `isWhole` tells whether these are all.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the disk cannot be read now. Damage is not an error: `isWhole` is false.
    func records() throws(TokenError) -> (records: [StoredRecord], isWhole: Bool) {
        var records: [StoredRecord] = []
        var isWhole = true
        do throws(TokenError) {
            let select = try connection.prepare("SELECT sharing_group, kind, key, body FROM record")
            var budget = try RowBudget(database: connection.path)
            while try select.step() {
                try budget.count(select.count(0) + select.count(2) + select.count(3))
                guard let kind = RecordKind(rawValue: Int32(truncatingIfNeeded: select.integer(1))) else {
                    isWhole = false
                    continue
                }
                let key = RecordKey(group: select.text(0), kind: kind, key: select.text(2))
                let body = select.blob(3)
                // Nothing of this version is authentic: what follows is for JSON within the limits of the reader.
                guard (try? JSONReader.read(body, maximumValues: JSONReader.valuesOfFile)) != nil,
                    !CombiningCharacters.areExcessive(in: key.group), !CombiningCharacters.areExcessive(in: key.key)
                else {
                    isWhole = false
                    continue
                }
                records.append(StoredRecord(key: key, body: body))
            }
            return (records, isWhole)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            return (records, false)
        }
    }

    /// Replaces the records by sealed ones in one transaction. The plain records are overwritten in the database; the log
    /// still has them.
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
