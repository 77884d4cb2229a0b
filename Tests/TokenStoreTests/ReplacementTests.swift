internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// The replacement of a damaged database by a new one: an interruption loses nothing, and the quarantined file is
/// unchanged.
@Suite(.bounded) struct ReplacementTests {
    @Test(arguments: FaultyDisk.Failure.allCases)
    func replacesADamagedFileLaterIfTheDiskFails(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try await damagedStore(), try FaultyDisk())
            let damaged = try Data(contentsOf: URL(filePath: folder.file))
            disk.fail(failure, after: after)
            let store = try folder.open(vfs: disk.name)
            if let found = try? await store.load() { #expect(found.count == 6, "\(failure) after \(after)") }
            let failed = disk.failed > 0
            disk.recover()
            #expect(try await store.load().count == 6, "\(failure) after \(after)")
            try await store.commit([.put(.sample(7))])
            let name = try #require(store.report.quarantined.first, "\(failure) after \(after)")
            #expect(store.report.quarantined.count == 1, "\(failure) after \(after)")
            #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)")) == damaged)
            #expect(!store.report.notices.isEmpty)
            await store.close()
            let again = try folder.open()
            #expect(try await again.load().count == 7, "\(failure) after \(after)")
            #expect(again.report.notices.isEmpty)
            await again.close()
            guard failed else { break }
        }
    }

    @Test func finishesAnInterruptedReplacement() async throws {
        let folder = try await halfReplaced()
        let store = try folder.open()
        #expect(try await store.load().count == 6)
        #expect(folder.names.contains { $0.hasSuffix("-wal") && $0.contains("quarantine") })
        await store.close()
    }

    /// The bytes of a file that is in the place of a complete new database, for a database of some bytes.
    private static let broken: [(String, @Sendable (Data) -> Data)] = [
        ("nothing", { _ in Data() }), ("garbage", { Data(repeating: 0x5A, count: $0.count) }),
        ("the first half", { $0.prefix($0.count / 2) }), ("another program's database", { $0.replacing(68, with: 1) }),
        ("a header without a database", { $0.prefix(100) }),
    ]

    @Test(arguments: 0..<broken.count) func keepsTheStoreIfWhatIsToReplaceItIsNoStore(index: Int) async throws {
        let (name, content) = Self.broken[index]
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...6 { try await store.commit([.put(.sample(number))]) }
        await store.close()
        let bytes = content(try Data(contentsOf: URL(filePath: folder.file)))
        try bytes.write(to: URL(filePath: folder.file + ".new"))
        let again = try folder.open()
        #expect(try await again.load().count == 6, "\(name)")
        try await again.commit([.put(.sample(7))])
        let kept = try #require(again.report.quarantined.first, "\(name)")
        #expect(again.report.quarantined.count == 1 && kept.hasPrefix("cache.sqlite.new"), "\(name)")
        #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/\(kept)")) == bytes)
        await again.close()
    }

    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func servesAnInterruptedReplacementOnAReadOnlyDisk() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let half = try await halfReplaced()
        for name in half.names {
            let bytes = try Data(contentsOf: URL(filePath: half.path + "/" + name))
            try bytes.write(to: URL(filePath: folder.path + "/" + name))
        }
        try mount.remount("ro")
        let store = try folder.open()
        #expect(try await store.load().count == 6)
        let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(7))]) }
        #expect(error?.code == .storeUnavailable)
        try mount.remount("rw")
        try await store.commit([.put(.sample(7))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 7)
        #expect(again.report.notices.isEmpty)
        await again.close()
    }

    @Test func quarantinesADatabaseTogetherWithItsLogAfterAnInterruption() async throws {
        let folder = try await halfReplaced()
        try Data("what was damaged".utf8).write(to: URL(filePath: folder.file))
        let store = try folder.open()
        #expect(try await store.load().count == 6)
        let name = "cache.sqlite.quarantine-20300317T174640Z"
        #expect(store.report.quarantined == [name])
        #expect(folder.names.filter { $0.contains("quarantine") }.sorted() == [name, name + "-wal"])
        await store.close()
    }

    /// A database that is moved to quarantine later would be opened together with the log of another.
    @Test func quarantinesTheLogOfAMissingDatabaseByItself() async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        for number in 1...6 { try await first.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()
        await first.close()
        try FileManager.default.removeItem(atPath: crashed.file)
        let store = try crashed.open()
        _ = try await store.load()
        await store.close()
        try Data("what was damaged".utf8).write(to: URL(filePath: crashed.file))
        let again = try crashed.open()
        _ = try await again.load()
        #expect(
            again.report.quarantined == [
                "cache.sqlite-wal.quarantine-20300317T174640Z", "cache.sqlite.quarantine-20300317T174640Z-2",
            ])
        #expect(!crashed.names.contains { $0.contains("quarantine") && $0.hasSuffix("-wal") })
        await again.close()
    }

    /// A backup from before a change of the key, restored while the agent runs: its key opens it, and nothing else does.
    @Test func leavesTheKeyOfABackupThatHasReplacedTheStore() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let backup = try folder.copyWithoutClosing()
        let store = try folder.open()
        _ = try await store.load()
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(await store.keyProblem() == nil)
        for name in folder.names { try FileManager.default.removeItem(atPath: folder.path + "/" + name) }
        for name in backup.names {
            try FileManager.default.copyItem(atPath: backup.path + "/" + name, toPath: folder.path + "/" + name)
        }
        let problem = await store.keyProblem()
        #expect(problem?.message.contains("was removed or replaced") == true)
        #expect(problem?.details.nextCommand == "kill \(getpid())")
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .file, passphrase: nil)
        }
        #expect(error == problem)
        await store.close()
        let restored = try folder.open()
        #expect(try await restored.load().count == 1)
        await restored.close()
    }

    /// The lock is on the folder that was there before, and a process that restricts its files may open none in the other one.
    @Test func loadsNothingFromAFolderThatHasReplacedItsOwn() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let store = try folder.open()
        #expect(try await store.load().count == 1)
        try await store.lock()
        let moved = folder.root + "/moved"
        try FileManager.default.moveItem(atPath: folder.path, toPath: moved)
        try FileManager.default.copyItem(atPath: moved, toPath: folder.path)
        let error = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(error?.details.nextCommand == "kill \(getpid())")
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.moveItem(atPath: moved, toPath: folder.path)
        #expect(try await store.load().count == 1)
        await store.close()
    }

    /// Memory has the last copy of the records then.
    @Test func isNotLockedOnceItsFolderIsRemoved() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let store = try folder.open()
        #expect(try await store.load().count == 1)
        let moved = folder.root + "/moved"
        try FileManager.default.moveItem(atPath: folder.path, toPath: moved)
        let error = await #expect(throws: TokenError.self) { try await store.lock() }
        #expect(error?.details.nextCommand == "kill \(getpid())")
        #expect(try await store.records(with: [.sample(1)]).count == 1)
        try FileManager.default.moveItem(atPath: moved, toPath: folder.path)
        try await store.lock()
        #expect(try await store.load().count == 1)
        await store.close()
    }

    /// The user has deleted a database in quarantine, and not its log.
    @Test func givesADatabaseTheLogOfNoOther() async throws {
        let folder = try await damagedStore()
        let left = "cache.sqlite.quarantine-20290101T000000Z-wal"
        try Data("the log".utf8).write(to: URL(filePath: folder.path + "/" + left))
        let store = try folder.open()
        #expect(try await store.load().count == 6)
        #expect(store.report.quarantined == [left, "cache.sqlite.quarantine-20300317T174640Z"])
        await store.close()
    }

    /// A crash while a database and its log are moved to quarantine: the log has been moved, and the database has not, or both have.
    @Test(arguments: [false, true]) func keepsALogWithItsDatabase(hasMoved: Bool) async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        for number in 1...6 { try await first.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()
        await first.close()
        let moved = crashed.file + ".quarantine-20290101T000000Z"
        let log = try Data(contentsOf: URL(filePath: crashed.file + "-wal"))
        try FileManager.default.moveItem(atPath: crashed.file + "-wal", toPath: moved + "-wal.moving")
        if hasMoved { try FileManager.default.moveItem(atPath: crashed.file, toPath: moved) }
        let store = try crashed.open()
        #expect(try await store.load().count == (hasMoved ? 0 : 6))
        #expect(!crashed.names.contains { $0.hasSuffix(".moving") })
        if hasMoved {
            #expect(try Data(contentsOf: URL(filePath: moved + "-wal")) == log)
            #expect(store.report.quarantined == ["cache.sqlite.quarantine-20290101T000000Z"])
        } else {
            #expect(store.report.quarantined.isEmpty)
        }
        await store.close()
    }

    /// The log of the database may be in it under another name, and so may a file that needs a key.
    @Test func takesNoFolderThatCannotBeListedForOneWithoutQuarantinedFiles() throws {
        let folder = try StoreFolder()
        let file = folder.root + "/file"
        try Data().write(to: URL(filePath: file))
        #expect(throws: TokenError.self) { try StorePaths(file).finishQuarantine() }
        #expect(throws: TokenError.self) { try StorePaths(file).findQuarantined() }
    }

    /// Several may be moved there within one second.
    @Test func replacesNoFileInQuarantine() throws {
        let folder = try TemporaryFolder()
        let paths = StorePaths(folder.path)
        for number in 1...3 {
            try Data([UInt8(number)]).write(to: URL(filePath: paths.journal))
            try paths.quarantine(file: paths.journal, now: 1_900_000_000)
        }
        let kept = try paths.findQuarantined().map { try Data(contentsOf: URL(filePath: folder.file($0))) }
        #expect(Set(kept) == [Data([1]), Data([2]), Data([3])])
    }

    /// A crash after the store with a damaged key file has been moved to quarantine, and before the key file has been moved.
    @Test func keepsADamagedKeyFileIfAQuarantineWasInterrupted() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let key = folder.path + "/cache.key"
        var damaged = try Data(contentsOf: URL(filePath: key))
        // An editor that ends lines with CR and LF leaves a key that can be repaired.
        damaged = Data(damaged.flatMap { $0 == UInt8(ascii: "\n") ? [UInt8(ascii: "\r"), $0] : [$0] })
        try damaged.write(to: URL(filePath: key))
        try FileManager.default.moveItem(atPath: folder.file, toPath: folder.file + ".quarantine-20300101T000000Z")
        let store = try folder.open()
        #expect(try await store.load().isEmpty)
        let kept = try #require(store.report.quarantined.first { $0.hasPrefix("cache.key") })
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/" + kept)) == damaged)
        #expect(store.report.notices.count == 1 && store.report.notices.first?.contains(kept) == true)
        try await store.commit([.put(.sample(2))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().map(\.key) == [.sample(2)])
        await again.close()
    }

    @Test(arguments: FaultyDisk.Failure.allCases)
    func opensWithTheReportedKeyWhereverAChangeFails(failure: FaultyDisk.Failure) async throws {
        let credentials = try StoreFolder()
        let keys = KeySettings(credentialsDirectory: credentials.root)
        try Data("a credential of thirty-two bytes".utf8).write(to: URL(filePath: credentials.root + "/sso-agent.key"))
        for after in 0... {
            let (folder, disk) = (try StoreFolder(), try FaultyDisk())
            let first = try folder.open()
            try await first.commit((1...3).map { .put(.sample($0)) })
            await first.close()
            let store = try folder.open(vfs: disk.name, keys: keys)
            _ = try await store.load()
            disk.fail(failure, after: after, count: 1)
            let changed: ()? = try? await store.changeKeySource(to: .credential, passphrase: nil)
            let failed = disk.failed > 0
            disk.recover()
            #expect(store.report.keySource == (changed == nil ? .file : .credential), "\(failure) after \(after)")
            try await store.commit([.put(.sample(4))])
            let crashed = try folder.copyWithoutClosing()
            await store.close()
            for folder in [folder, crashed] {
                let again = try folder.open(keys: changed == nil ? KeySettings() : keys)
                #expect(try await again.load().count == 4, "\(failure) after \(after)")
                #expect(again.report.keySource == store.report.keySource)
                await again.close()
            }
            guard failed else { break }
        }
    }

    @Test func keepsTheKeyOfAQuarantinedFile() async throws {
        let folder = try await damagedStore()
        let store = try folder.open()
        _ = try await store.load()
        let quarantined = try #require(store.report.quarantined.first)
        let refused = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        }
        #expect(refused?.message.contains(quarantined) == true)
        #expect(store.report.keySource == .file && folder.names.contains("cache.key"))
        try FileManager.default.removeItem(atPath: "\(folder.path)/\(quarantined)")
        try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        #expect(!folder.names.contains("cache.key"))
        await store.close()
    }

    /// Six records in a file whose first page SQLite cannot read.
    private func damagedStore() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...6 { try await store.commit([.put(.sample(number))]) }
        await store.close()
        var bytes = try Data(contentsOf: URL(filePath: folder.file))
        bytes.replaceSubrange(100..<200, with: Data(repeating: 0xff, count: 100))
        try bytes.write(to: URL(filePath: folder.file))
        return folder
    }

    /// Six records as after a crash during the replacement of their file: the old log has been moved, and the old database is missing.
    private func halfReplaced() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...6 { try await store.commit([.put(.sample(number))]) }
        await store.close()
        try FileManager.default.moveItem(atPath: folder.file, toPath: folder.file + ".new")
        try Data("the log".utf8).write(to: URL(filePath: folder.file + ".quarantine-20300101T000000Z-wal.moving"))
        return folder
    }
}

extension Data {
    fileprivate func replacing(_ index: Int, with byte: UInt8) -> Data {
        var copy = self
        copy[index] = byte
        return copy
    }
}
