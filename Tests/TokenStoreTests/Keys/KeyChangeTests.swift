internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// A change of the key: what was stolen before it opens nothing that is written after it.
@Suite(.bounded) struct KeyChangeTests {
    /// The thief has a copy of the folder and its key from before the change, and another copy from after it.
    @Test(arguments: [KeySource.file, .passphrase])
    func keepsLaterRecordsFromACopyOfTheOldFolder(source: KeySource) async throws {
        let folder = try await folderWithRecords(1...3)
        let stolen = try folder.copyWithoutClosing()
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: source, passphrase: Secret("correct horse"))
        try await store.commit([.put(.sample(4))])
        if source != .file {
            try await store.changeKeySource(
                to: .file, passphrase: nil, currentPassphrase: Secret("correct horse"))
        }
        await store.close()

        // The new records with the old wrapped key and the old key file.
        let forged = try folder.copyWithoutClosing()
        try FileManager.default.removeItem(atPath: forged.path + "/cache.key")
        try FileManager.default.copyItem(atPath: stolen.path + "/cache.key", toPath: forged.path + "/cache.key")
        #expect(try await records(of: forged) == [])
        let withOldKey = try folder.copyWithoutClosing()
        try FileManager.default.removeItem(atPath: withOldKey.path + "/cache.key")
        try FileManager.default.copyItem(atPath: stolen.path + "/cache.key", toPath: withOldKey.path + "/cache.key")
        try run(
            """
            ATTACH '\(stolen.file)' AS old; INSERT OR REPLACE INTO key SELECT * FROM old.key;
            INSERT OR REPLACE INTO state SELECT * FROM old.state WHERE slot = 2
            """, on: withOldKey)
        #expect(try await records(of: withOldKey) == [])
        #expect(try await records(of: folder).count == 4)
    }

    @Test func leavesNothingThatTheOldKeyOpens() async throws {
        let folder = try await folderWithRecords(1...50)
        let before = try Data(contentsOf: URL(filePath: folder.file))
        let old = StoreImage(database: Array(before), log: WriteAheadLog([]), all: true).envelopes()
        #expect(old.count >= 50)
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        for name in folder.names {
            let bytes = try Data(contentsOf: URL(filePath: folder.path + "/" + name))
            for envelope in old { #expect(bytes.range(of: Data(envelope.bytes.suffix(24))) == nil, "\(name)") }
        }
        #expect(try await store.load().count == 50)
        await store.close()
        #expect(try await records(of: folder).count == 50)
    }

    /// A backup of the database alone.
    @Test func saysWhichKeyAnEarlierCopyNeeds() async throws {
        let folder = try await folderWithRecords(1...3)
        let backup = try Data(contentsOf: URL(filePath: folder.file))
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        await store.close()
        try backup.write(to: URL(filePath: folder.file))
        let restored = try folder.open()
        #expect(try await restored.load().isEmpty)
        #expect(restored.report.notices.first?.hasSuffix("put the store and the key file of that time back") == true)
        await restored.close()
    }

    /// A later version of the agent knows more kinds of records.
    @Test func keepsRecordsOfUnknownKinds() async throws {
        let folder = try await folderWithRecords(1...2)
        let store = try folder.open()
        _ = try await store.load()
        try await store.onQueue { engine throws(TokenError) in
            let keys = try engine.derivedKeys()
            var content: [UInt8] = []
            content.append(counted: "group".utf8)
            content.append(number: Int32(99))
            content.append(counted: "key".utf8)
            content.append(counted: "alice".utf8)
            let id = RecordID(group: "group".utf8, kind: 99, key: "key".utf8, keys)
            let record = try SealedRecord(
                content: content, id: id, sequence: 3, tag: AccountTag("alice", in: "group", keys), keys)
            engine.ledger.add(record, in: "group", SetDigest(id, 3, keys), keys)
            let database = try engine.writableDatabase(keys)
            try database.transaction { () throws(TokenError) in
                try database.replace([], with: [record])
                try database.write(try engine.ledger.state.sealed(keys))
            }
        }
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(try await store.onQueue { engine throws(TokenError) in engine.ledger.state.count } == 3)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 2)
        #expect(again.report.notices == [])
        #expect(try await again.onQueue { engine throws(TokenError) in engine.ledger.state.count } == 3)
        await again.close()
    }

    @Test(arguments: FaultyDisk.Failure.allCases)
    func opensWithTheKeyFileWhereverAChangeToANewKeyFails(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try await folderWithRecords(1...3), try FaultyDisk())
            let store = try folder.open(vfs: disk.name)
            _ = try await store.load()
            disk.fail(failure, after: after, count: 1)
            _ = try? await store.changeKeySource(to: .file, passphrase: nil)
            let failed = disk.failed > 0
            let crashedAtOnce = try folder.copyWithoutClosing()
            disk.recover()
            try await store.commit([.put(.sample(4))])
            let crashedLater = try folder.copyWithoutClosing()
            await store.close()
            #expect(try await records(of: crashedAtOnce).count == 3, "\(failure) after \(after)")
            #expect(try await records(of: crashedLater).count == 4, "\(failure) after \(after)")
            #expect(try await records(of: folder).count == 4, "\(failure) after \(after)")
            guard failed else { break }
        }
    }

    /// A crash during a change, whose log is then damaged: SQLite sees the records from before the change, and the log may or may not
    /// have all of the later ones.
    @Test(arguments: FaultyDisk.Failure.allCases)
    func losesNothingIfTheLogOfAnInterruptedChangeIsDamaged(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try await folderWithRecords(1...3), try FaultyDisk())
            let store = try folder.open(vfs: disk.name)
            _ = try await store.load()
            disk.fail(failure, after: after)
            _ = try? await store.changeKeySource(to: .file, passphrase: nil)
            let failed = disk.failed > 0
            let crashed = try folder.copyWithoutClosing()
            disk.recover()
            await store.close()
            let path = URL(filePath: crashed.file + "-wal")
            let log = (try? Data(contentsOf: path)) ?? Data()
            for place in stride(from: 32 + 24 + 500, to: log.count, by: 24 + 4096) {
                var damaged = log
                damaged[place] ^= 1
                let again = try crashed.copyWithoutClosing()
                try damaged.write(to: URL(filePath: again.file + "-wal"))
                #expect(try await records(of: again).count == 3, "\(failure) after \(after), byte \(place)")
            }
            guard failed else { break }
        }
    }

    /// What a failed change has left in the log is older than the commits after it.
    @Test(arguments: [true, false]) func usesAHiddenChangeOnlyIfItIsTheLatest(isLatest: Bool) async throws {
        let folder = try await folderWithRecords(1...3)
        let store = try folder.open()
        _ = try await store.load()
        let isUsed = try await store.onQueue { engine throws(TokenError) in
            guard let (database, old, wrapping) = engine.opened else { throw TokenError(.internalError, "not open") }
            let fresh = StoreKeys.random()
            var state = SealedState()
            state.counter = engine.ledger.state.counter + (isLatest ? 1 : 0)
            let envelopes = [
                try WrappedKey(fresh, generation: old.generation + 1, with: wrapping).envelope,
                try state.sealed(fresh.derived()),
            ]
            engine.keys = nil
            engine.useHiddenChange(envelopes, after: [old], in: database)
            return engine.keys != nil
        }
        #expect(isUsed == isLatest)
        await store.close()
    }

    /// The folder as it is between the steps of a change: the file has both keys until the log is empty.
    @Test func forgetsTheOldKeyAfterAnInterruptedChange() async throws {
        let folder = try await folderWithRecords(1...3)
        let old = try Data(contentsOf: URL(filePath: folder.path + "/cache.key"))
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        await store.close()
        let new = try Data(contentsOf: URL(filePath: folder.path + "/cache.key"))
        #expect(new != old && new.count == old.count)
        try (new + Data("\n".utf8) + old + Data("sso-agent-unsettled\n".utf8)).write(
            to: URL(filePath: folder.path + "/cache.key"))
        #expect(try await records(of: folder).count == 3)
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/cache.key")) == new)
    }

    /// The commit of a change reaches the disk although its flush fails, and the log cannot be emptied before the store is locked.
    @Test func keepsTheKeyThatAStoreNeedsAfterAFailedChangeAndALock() async throws {
        for after in 0... {
            let (folder, disk, keyring) = (try await folderWithRecords(1...3), try FaultyDisk(), try TemporaryFolder())
            let tool = try await keyring.makeProgram("secret-tool", Self.keyring(keyring.file("secret")))
            let keys = KeySettings(secretTool: tool)
            let store = try folder.open(vfs: disk.name, keys: keys)
            _ = try await store.load()
            disk.fail(.sync, after: after, count: 1)
            _ = try? await store.changeKeySource(to: .secretService, passphrase: nil)
            let failed = disk.failed > 0
            disk.failToShrink()
            try await store.lock()
            disk.recover()
            #expect(try await store.load().count == 3, "flush \(after)")
            await store.close()
            let again = try folder.open(keys: keys)
            #expect(try await again.load().count == 3, "flush \(after)")
            await again.close()
            guard failed else { break }
        }
    }

    /// Whichever operation is the last one before a kill, the next start deletes a key file that the store does not need.
    @Test(arguments: FaultyDisk.Failure.allCases)
    func deletesTheKeyFileAfterAnInterruptedChangeToAnotherSource(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let killed = try await interruptedChange(from: .file, to: .secretService, failure, after: after)
            let hasKeyFile = killed.folder.names.contains(KeyFile.name)
            #expect(hasKeyFile == (killed.source == .file) || killed.isQuarantined, "\(failure) after \(after)")
            guard killed.hasFailed else { break }
        }
    }

    /// The next start also deletes a key in the keyring, which is not asked whether it has one.
    @Test(arguments: FaultyDisk.Failure.allCases)
    func deletesTheKeyInTheKeyringAfterAnInterruptedChangeToAnotherSource(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let killed = try await interruptedChange(from: .secretService, to: .file, failure, after: after)
            let hasKey = FileManager.default.fileExists(atPath: killed.keyring.file("secret"))
            #expect(hasKey == (killed.source == .secretService) || killed.isQuarantined, "\(failure) after \(after)")
            let isMarked = killed.folder.names.contains(KeyringMark.name)
            #expect(!isMarked || killed.isQuarantined, "\(failure) after \(after)")
            guard killed.hasFailed else { break }
        }
    }

    /// A store after the start that follows a change of the key during which the disk has failed and the process was killed.
    private struct InterruptedChange {
        let folder: StoreFolder
        let keyring: TemporaryFolder
        let source: KeySource?
        let isQuarantined: Bool
        /// Whether the change had as many operations that the disk has failed.
        let hasFailed: Bool
    }

    private func interruptedChange(
        from old: KeySource, to new: KeySource, _ failure: FaultyDisk.Failure, after: Int
    ) async throws -> InterruptedChange {
        let (folder, disk, keyring) = (try await folderWithRecords(1...3), try FaultyDisk(), try TemporaryFolder())
        let keys = KeySettings(
            secretTool: try await keyring.makeProgram("secret-tool", Self.keyring(keyring.file("secret"))))
        let store = try folder.open(vfs: disk.name, keys: keys)
        _ = try await store.load()
        if old != .file { try await store.changeKeySource(to: old, passphrase: nil) }
        #expect(!folder.names.contains(KeyringMark.name))
        disk.fail(failure, after: after)
        _ = try? await store.changeKeySource(to: new, passphrase: nil)
        let hasFailed = disk.failed > 0
        let killed = try folder.copyWithoutClosing()
        disk.recover()
        await store.close()
        let again = try killed.open(keys: keys)
        #expect(try await again.load().count == 3, "\(failure) after \(after)")
        await again.waitForKeyring()
        let (source, isQuarantined) = (again.report.keySource, !again.report.quarantined.isEmpty)
        await again.close()
        return InterruptedChange(
            folder: killed, keyring: keyring, source: source, isQuarantined: isQuarantined, hasFailed: hasFailed)
    }

    /// A keyring that is locked deletes nothing. Its user may delete the key meanwhile.
    @Test(arguments: [false, true]) func deletesTheKeyWhenTheKeyringIsUnlocked(isDeleted: Bool) async throws {
        let (folder, keyring) = (try await folderWithRecords(1...3), try TemporaryFolder())
        let (secret, lock) = (keyring.file("secret"), keyring.file("secret.locked"))
        let keys = KeySettings(secretTool: try await keyring.makeProgram("secret-tool", Self.keyring(secret)))
        let store = try folder.open(keys: keys)
        _ = try await store.load()
        try await store.changeKeySource(to: .secretService, passphrase: nil)
        try Data().write(to: URL(filePath: lock))
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(store.report.notices.contains { $0.hasSuffix("unlock the keyring, and restart the agent") })
        await store.close()

        let locked = try folder.open(keys: keys)
        for _ in 0..<2 {
            #expect(try await locked.load().count == 3)
            await locked.waitForKeyring()
            try await locked.lock()
        }
        #expect(locked.report.notices.count == 1)
        #expect(FileManager.default.fileExists(atPath: secret))
        await locked.close()

        try FileManager.default.removeItem(atPath: lock)
        if isDeleted { try FileManager.default.removeItem(atPath: secret) }
        let unlocked = try folder.open(keys: keys)
        #expect(try await unlocked.load().count == 3)
        await unlocked.waitForKeyring()
        #expect(unlocked.report.notices == [])
        await unlocked.close()
        #expect(!FileManager.default.fileExists(atPath: secret))
        #expect(!folder.names.contains(KeyringMark.name))
    }

    /// The folder as it is between the commit of a change to a passphrase and the deletion of the old key.
    @Test func deletesTheKeyFileThatAKillHasLeft() async throws {
        let folder = try await folderWithRecords(1...3)
        let path = folder.path + "/" + KeyFile.name
        let old = try Data(contentsOf: URL(filePath: path))
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        await store.close()
        try (old + Data("sso-agent-unsettled\n".utf8)).write(to: URL(filePath: path))
        let again = try folder.open()
        #expect(try await again.load(passphrase: Secret("correct horse"), into: [StoredRecord].self).count == 3)
        await again.close()
        #expect(!folder.names.contains(KeyFile.name))
    }

    /// The disk cannot be written, for example. The log may need the key.
    @Test func deletesNoKeyBeforeTheLogIsEmpty() async throws {
        let folder = try await folderWithRecords(1...3)
        let store = try folder.open()
        _ = try await store.load()
        try await store.onQueue { engine throws(TokenError) in
            engine.database = nil
            engine.settlement = StoreEngine.Settlement(current: nil, retired: [.file])
            try engine.lock()
        }
        #expect(folder.names.contains(KeyFile.name))
        #expect(try await store.load().count == 3)
        await store.close()
    }

    @Test func saysThatAKeyFileCannotBeDeleted() throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        let ring = KeyRing(directory: folder.path, settings: KeySettings())
        try ring.retire(.file)
        try FileManager.default.createDirectory(atPath: ring.keyFile.path, withIntermediateDirectories: false)
        #expect(throws: TokenError.self) { try ring.retire(.file) }
    }

    /// A `secret-tool` whose keyring is a file. It is locked while there is another file, with `.locked` at the end of its name.
    private static func keyring(_ file: String) -> String {
        """
        [ ! -e "\(file).locked" ] || exit 1
        case $1 in
        store) cat >"\(file)" ;;
        lookup) cat "\(file)" ;;
        clear) rm "\(file)" ;;
        esac
        """
    }

    @Test func changesTheKeyOfALargeStore() async throws {
        let folder = try await folderWithRecords(1...3000)
        let store = try folder.open()
        _ = try await store.load()
        try await store.commit([.delete(.sample(7)), .put(.sample(8, fill: 0x42))])
        try await store.changeKeySource(to: .file, passphrase: nil)
        try await store.commit([.put(.sample(9, fill: 0x43)), .delete(.sample(10))])
        await store.close()
        let found = try await records(of: folder)
        #expect(found.count == 2998)
        #expect(found.contains(.sample(8, fill: 0x42)) && found.contains(.sample(9, fill: 0x43)))
    }

    private func folderWithRecords(_ numbers: ClosedRange<Int>) async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit(numbers.map { .put(.sample($0)) })
        await store.close()
        return folder
    }

    private func records(of folder: StoreFolder) async throws -> [StoredRecord] {
        let store = try folder.open()
        let records = try await store.load()
        await store.close()
        return records
    }

    private func run(_ sql: String, on folder: StoreFolder) throws {
        try SQLiteConnection(path: folder.file).execute(sql)
    }
}

extension StoreEngine {
    /// What is open after a load with the key file.
    fileprivate var opened: (StoreDatabase, WrappedKey, KeyRing.Wrapping)? {
        guard let database, let wrapped, let wrapping else { return nil }
        return (database, wrapped, wrapping)
    }
}
