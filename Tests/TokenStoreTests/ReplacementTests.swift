internal import AgentTestSupport
internal import Foundation
internal import Testing
internal import TokenModel
internal import TokenStore

/// A damaged file gives way to a new one: nothing is lost wherever that stops, and what was put aside stays as it was.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTests {
    @Test(arguments: FaultyDisk.Failure.allCases)
    func replacesADamagedFileLaterWhereTheDiskFails(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try await damagedStore(), try FaultyDisk())
            let damaged = try Data(contentsOf: URL(filePath: folder.file))
            disk.fail(failure, after: after)
            let store = try folder.open(vfs: disk.name)
            if let found = try? store.load() { #expect(found.count == 6, "\(failure) after \(after)") }
            let failed = disk.failed > 0
            disk.recover()
            #expect(try store.load().count == 6, "\(failure) after \(after)")
            try await store.commit([.put(.sample(7))])
            let name = try #require(store.report.quarantined.first, "\(failure) after \(after)")
            #expect(store.report.quarantined.count == 1, "\(failure) after \(after)")
            #expect(try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)")) == damaged)
            #expect(!store.report.notices.isEmpty)
            await store.close()
            let again = try folder.open()
            #expect(try again.load().count == 7, "\(failure) after \(after)")
            #expect(again.report.notices.isEmpty)
            await again.close()
            guard failed else { break }
        }
    }

    @Test func finishesAReplacementThatACrashLeftHalfDone() async throws {
        let folder = try await halfReplaced()
        let store = try folder.open()
        #expect(try store.load().count == 6)
        #expect(folder.names.contains { $0.hasSuffix("-wal") && $0.contains("quarantine") })
        await store.close()
    }

    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func servesAHalfDoneReplacementOnADiskThatTakesNoWritingAndKeepsIt() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let half = try await halfReplaced()
        for name in half.names {
            let bytes = try Data(contentsOf: URL(filePath: half.path + "/" + name))
            try bytes.write(to: URL(filePath: folder.path + "/" + name))
        }
        try mount.remount("ro")
        let store = try folder.open()
        #expect(try store.load().count == 6)
        let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(7))]) }
        #expect(error?.code == .storeUnavailable)
        try mount.remount("rw")
        try await store.commit([.put(.sample(7))])
        await store.close()
        let again = try folder.open()
        #expect(try again.load().count == 7)
        #expect(again.report.notices.isEmpty)
        await again.close()
    }

    @Test func putsADatabaseBesideTheLogThatACrashSeparatedItFrom() async throws {
        let folder = try await halfReplaced()
        let log = try #require(folder.names.first { $0.contains("quarantine") })
        try Data("what was damaged".utf8).write(to: URL(filePath: folder.file))
        let store = try folder.open()
        #expect(try store.load().count == 6)
        #expect(store.report.quarantined == [String(log.dropLast(4))])
        await store.close()
    }

    @Test(arguments: FaultyDisk.Failure.allCases)
    func opensWithTheKeyThatItSaysWhereverChangingItFails(failure: FaultyDisk.Failure) async throws {
        let passphrase = Secret("correct horse battery staple")
        for after in 0... {
            let (folder, disk) = (try StoreFolder(), try FaultyDisk())
            let store = try folder.open(vfs: disk.name)
            for number in 1...3 { try await store.commit([.put(.sample(number))]) }
            disk.fail(failure, after: after, count: 1)
            let changed: ()? = try? await store.changeKeySource(to: .passphrase, passphrase: passphrase)
            let failed = disk.failed > 0
            disk.recover()
            #expect(store.report.keySource == (changed == nil ? .file : .passphrase), "\(failure) after \(after)")
            try await store.commit([.put(.sample(4))])
            let crashed = try folder.copyWithoutClosing()
            await store.close()
            for folder in [folder, crashed] {
                let again = try folder.open()
                let found: [StoredRecord]
                if changed == nil {
                    found = try again.load()
                } else {
                    #expect(throws: TokenError.self) { try again.load() }
                    found = try await again.load(passphrase: passphrase, into: [StoredRecord].self)
                }
                #expect(found.count == 4, "\(failure) after \(after)")
                await again.close()
            }
            guard failed else { break }
        }
    }

    @Test func keepsTheKeyThatAQuarantinedFileOpensWith() async throws {
        let folder = try await damagedStore()
        let store = try folder.open()
        _ = try store.load()
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

    /// Six records in a file whose first page SQLite does not understand.
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

    /// The same after a crash in the middle of its replacement: the old log has been moved, and the old database is gone.
    private func halfReplaced() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...6 { try await store.commit([.put(.sample(number))]) }
        await store.close()
        try FileManager.default.moveItem(atPath: folder.file, toPath: folder.file + ".new")
        try Data("the log".utf8).write(to: URL(filePath: folder.file + ".quarantine-20300101T000000Z-wal"))
        return folder
    }
}
