internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Changes of the files without the key are detected.
@Suite(.bounded) struct SealingTests {
    private let keys = StoreKeys.random().derived()

    @Test func refusesARecordWithAnyBitOfItChanged() throws {
        let record = StoredRecord.sample(1, size: 50)
        let sealed = try SealedRecord(record, id: RecordID(record.key, keys), sequence: 5, keys)
        #expect(try #require(sealed.open(keys)).record == record)
        for index in sealed.envelope.bytes.indices {
            for bit in 0..<8 {
                var bytes = sealed.envelope.bytes
                bytes[index] ^= 1 << bit
                #expect(Envelope(bytes).flatMap(SealedRecord.init)?.open(keys) == nil, "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test func refusesATruncatedRecord() throws {
        let record = StoredRecord.sample(1, size: 50)
        let bytes = try SealedRecord(record, id: RecordID(record.key, keys), sequence: 5, keys).envelope.bytes
        for count in 0..<bytes.count { #expect(Envelope(Array(bytes.prefix(count))) == nil) }
    }

    @Test func refusesAnotherKeysRecords() throws {
        let record = StoredRecord.sample(1)
        let sealed = try SealedRecord(record, id: RecordID(record.key, keys), sequence: 5, keys)
        #expect(sealed.open(StoreKeys.random().derived()) == nil)
    }

    @Test func identifiesARecordByAKeyedHashOfItsKey() {
        let ids = [
            RecordKey(group: "a", kind: .account, key: "bc"), RecordKey(group: "ab", kind: .account, key: "c"),
            RecordKey(group: "a", kind: .idToken, key: "bc"), RecordKey(group: "", kind: .account, key: "abc"),
        ].map { RecordID($0, keys) }
        #expect(Set(ids).count == ids.count)
        #expect(ids[0] == RecordID(RecordKey(group: "a", kind: .account, key: "bc"), keys))
        #expect(ids[0] != RecordID(RecordKey(group: "a", kind: .account, key: "bc"), StoreKeys.random().derived()))
    }

    /// Of two states that are found in a damaged file, the one with the higher number is the later one.
    @Test func givesACommitANumberThatOnlyRemovesRecords() throws {
        var ledger = StoreLedger()
        let put = try ledger.plan([StoreChange.put(.sample(1))], keys)
        ledger.apply(put)
        let removal = try ledger.plan([StoreChange.delete(.sample(1))], keys)
        #expect(removal.after.counter == ledger.state.counter + 1)
    }

    /// Changes of the file that SQLite does not detect.
    @Test(arguments: [
        // A record replaced by its earlier version.
        "DELETE FROM sealed WHERE sequence = 4; INSERT INTO sealed SELECT * FROM old.sealed WHERE sequence = 2",
        // A removed record that was restored.
        "INSERT INTO sealed SELECT * FROM old.sealed WHERE sequence = 3",
        // A record that was removed.
        "DELETE FROM sealed WHERE sequence = 1",
        // Two records that were exchanged.
        """
        UPDATE sealed SET sequence = -1 WHERE sequence = 1; UPDATE sealed SET sequence = 1 WHERE sequence = 4;
        UPDATE sealed SET sequence = 4 WHERE sequence = -1
        """,
        // An earlier version beside the later one.
        "INSERT INTO sealed SELECT * FROM old.sealed WHERE sequence = 2",
        // The earlier state.
        "DELETE FROM state WHERE slot = 1; INSERT INTO state SELECT * FROM old.state WHERE slot = 1",
        "DELETE FROM state",
    ])
    func detectsChangesOfTheFile(sql: String) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...3 { try await store.commit([.put(.sample(number))]) }
        let old = try folder.copyWithoutClosing()
        try await store.commit([.delete(.sample(3)), .put(.sample(2, fill: 0x42))])
        await store.close()

        try run(sql, on: folder, old)
        let again = try folder.open()
        for record in try await again.load() where record.key == .sample(1) { #expect(record == .sample(1)) }
        #expect(again.report.notices.count == 1)
        #expect(again.report.quarantined.count == 1)
        await again.close()
    }

    /// Changes the database with SQLite, and closes it.
    private func run(_ sql: String, on folder: StoreFolder, _ old: StoreFolder) throws {
        let connection = try SQLiteConnection(path: folder.file)
        try connection.execute("ATTACH '\(old.file)' AS old; \(sql)")
    }
}
