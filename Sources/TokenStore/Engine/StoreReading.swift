internal import TokenModel

/// Reading records while the store is in use.
extension StoreEngine {
    /// The records with these keys, in the order in which they were written. A file that turns out to be damaged is repaired; what that
    /// does not recover is not there.
    ///
    /// - Throws: `storeUnavailable` (-53008) if they cannot be read now, also if the repaired file turns out to be damaged, too.
    func records(with keys: [RecordKey]) throws(TokenError) -> [StoredRecord] {
        let derived = try derivedKeys()
        do throws(TokenError) {
            return try read(keys, derived)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            try repairInUse(derived, error)
        }
        do throws(TokenError) {
            return try read(keys, derived)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            throw TokenError(.storeUnavailable, "\(error.message), and has been repaired just now; try again")
        }
    }

    /// - Throws: `cacheBadFormat` (-51201) if a record of the ledger is not in the file, or not authentic.
    private func read(_ keys: [RecordKey], _ derived: StoreKeys.Derived) throws(TokenError) -> [StoredRecord] {
        let wanted = keys.compactMap { key in ledger.sequence(of: key, derived).map { (sequence: $0, key: key) } }
            .sorted { $0.sequence < $1.sequence }
        let database: StoreDatabase
        do throws(TokenError) {
            database = try writableDatabase(derived)
        } catch {
            // Records that were recovered and cannot be written yet.
            if let pending = pending?.records {
                let numbers = Set(wanted.map(\.sequence))
                return pending.filter { numbers.contains($0.sequence) }.compactMap { $0.open(derived)?.record }
            }
            // The log was removed, and the disk has no room to write it into the database.
            guard let open = self.database, error.code != .cacheBadFormat else { throw error }
            database = open
        }
        let select = try database.selectRecord()
        var records: [StoredRecord] = []
        records.reserveCapacity(wanted.count)
        for (sequence, key) in wanted {
            guard let record = try database.record(sequence, select)?.open(derived)?.record, record.key == key else {
                throw TokenError(.cacheBadFormat, "\(paths.database) is damaged: a record is missing or not authentic")
            }
            records.append(record)
        }
        return records
    }
}
