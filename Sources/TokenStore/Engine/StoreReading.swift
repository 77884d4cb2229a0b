internal import TokenModel

/// Reading records while the store is in use.
extension StoreEngine {
    /// The records with these keys, in the order in which they were written. A file that turns out to be damaged is repaired; what that
    /// does not recover is not there.
    func records(with keys: [RecordKey]) throws(TokenError) -> [StoredRecord] {
        let derived = try derivedKeys()
        do throws(TokenError) {
            return try read(keys, derived)
        } catch {
            guard error.code == .cacheBadFormat else { throw error }
            try repairInUse(derived, error)
            return try read(keys, derived)
        }
    }

    /// - Throws: `cacheBadFormat` (-51201) if a record of the ledger is not in the file, or not authentic.
    private func read(_ keys: [RecordKey], _ derived: StoreKeys.Derived) throws(TokenError) -> [StoredRecord] {
        let wanted = keys.compactMap { key in ledger.sequence(of: key, derived).map { (sequence: $0, key: key) } }
            .sorted { $0.sequence < $1.sequence }
        // Records that were recovered and have not been written yet.
        if let pending = pending?.records, (try? writableDatabase(derived)) == nil {
            let numbers = Set(wanted.map(\.sequence))
            return pending.filter { numbers.contains($0.sequence) }.compactMap { $0.open(derived)?.record }
        }
        let database = try writableDatabase(derived)
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
