internal import AgentSocket
internal import AgentTestSupport
internal import Foundation
internal import PosixFiles
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// An earlier copy of the store is refused if a TPM counts: one of swtpm here, which works as one of hardware does.
@Suite(.bounded, .enabled(if: EmulatedTPM.isInstalled)) struct RollbackTests {
    @Test func refusesAnEarlierCopyOfTheFolder() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        let earlier = try Copy(of: folder)
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(2))]) }
        let latest = try Copy(of: folder)
        try earlier.putBack()
        try await expectRefusal(folder, tpm, "is an earlier copy")
        #expect(try Copy(of: folder) == earlier, "a refused store is not changed")
        try latest.putBack()
        try await use(folder, tpm) { _, records in #expect(records.map(\.key) == [.sample(1), .sample(2)]) }
    }

    /// The agent is still running when the copy is made, and has not been started again since.
    @Test(arguments: [true, false])
    func refusesACopyFromBeforeARefreshTokenWasRemoved(alone: Bool) async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        var earlier: Copy?
        try await use(folder, tpm) { store, _ in
            try await store.commit([
                .put(StoredRecord(key: .refreshToken, body: [1], account: .noAccount)), .put(.sample(1)),
            ])
            earlier = try Copy(of: folder)
            let count = try #require(store.report.count)
            try await store.commit([.put(.sample(2))])
            #expect(store.report.count == count, "a commit that removes no refresh token takes none of the TPM's time")
            try await store.commit([alone ? .delete(.refreshToken) : .deleteGroup("group")])
            #expect(store.report.count == count + 1)
        }
        try earlier?.putBack()
        try await expectRefusal(folder, tpm, "is an earlier copy")
    }

    @Test func refusesACopyWithTheKeyFromBeforeAChange() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        var earlier: Copy?
        try await use(folder, tpm) { store, _ in
            try await store.commit([.put(.sample(1))])
            earlier = try Copy(of: folder)
            try await store.changeKeySource(to: .file, passphrase: nil)
        }
        try await use(folder, tpm) { _, records in #expect(records == [.sample(1)]) }
        try earlier?.putBack()
        try await expectRefusal(folder, tpm, "is an earlier copy")
    }

    /// Neither an empty folder nor a store from before the TPM counted says that there was a later one.
    @Test(arguments: [true, false]) func refusesAStoreThatWasNeverCounted(isEmpty: Bool) async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try folder.makeDirectory()
        if !isEmpty {
            let store = try folder.open()
            try await store.commit([.put(.sample(1))])
            await store.close()
        }
        let earlier = try Copy(of: folder)
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(2))]) }
        try earlier.putBack()
        try await expectRefusal(folder, tpm, "has no count")
        try await expectRefusal(folder, tpm, "has no count")
        #expect(try Copy(of: folder) == earlier, "a refused folder is not changed")
    }

    /// A store whose key is missing would be moved to quarantine, and a new one be written.
    @Test func leavesACountedStoreWithoutItsKeyWhereItIs() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        let key = "\(folder.path)/\(KeyFile.name)"
        try FileManager.default.moveItem(atPath: key, toPath: folder.root + "/key")
        try await expectRefusal(folder, tpm, "cannot be opened")
        #expect(!FileManager.default.fileExists(atPath: key))
        try FileManager.default.moveItem(atPath: folder.root + "/key", toPath: key)
        try await use(folder, tpm) { store, records in
            #expect(records == [.sample(1)])
            #expect(store.report.quarantined.isEmpty)
        }
    }

    /// The steps of the first start after which the agent can be killed, and those of another one after it.
    @Test func acceptsAFirstStartThatWasInterrupted() async throws {
        let password = [UInt8](repeating: 7, count: RollbackMark.passwordLength)
        // The mark has the count that the TPM gives, or an earlier one, as if another counter had been removed meanwhile.
        for (hasMark, early) in [(false, 0), (true, 0), (true, 1)] as [(Bool, UInt64)] {
            let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
            let plain = try folder.open()
            try await plain.commit([.put(.sample(1))])
            _ = try Self.counter(folder, tpm).lastCount()
            if hasMark {
                let mark = RollbackMark(
                    password: password, count: try Self.counter(folder, tpm).make(password) - early)
                try await plain.onQueue { engine throws(TokenError) in try engine.save(mark) }
            }
            await plain.close()
            for _ in 0..<3 {
                try await use(folder, tpm) { store, records in
                    #expect(records == [.sample(1)])
                    #expect(store.report.counterProblem == nil)
                    #expect(store.report.count != nil)
                }
            }
        }
    }

    @Test func acceptsAFolderWhoseCounterHasNeverBeenRaised() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        _ = try Self.counter(folder, tpm).make([UInt8](repeating: 7, count: RollbackMark.passwordLength))
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        try await use(folder, tpm) { _, records in #expect(records == [.sample(1)]) }
    }

    /// The TPM's first count is the one that the mark has.
    @Test func knowsTheFirstCountOfACounter() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        let counter = try Self.counter(folder, tpm)
        let password = [UInt8](repeating: 7, count: RollbackMark.passwordLength)
        for _ in 0..<2 {
            let count = try counter.make(password)
            #expect(try counter.read(password) == .unused)
            #expect(try counter.read([1]) == .foreign)
            #expect(try !counter.hasCounted())
            try counter.increment(password)
            #expect(try counter.read(password) == .count(count))
            #expect(try counter.hasCounted())
        }
    }

    /// Of another machine, or of this one after it was cleared.
    @Test func refusesAStoreThatAnotherTPMHasCounted() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        let other = try await EmulatedTPM()
        try await expectRefusal(folder, other, "has no counter of it, as after it was cleared")
    }

    /// Each of the steps of a start can be the last one that reaches the disk, or the TPM.
    @Test func acceptsTheStoreOfAStartThatWasInterrupted() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        // The TPM fails between the two halves of a count.
        try await use(folder, tpm) { store, _ in
            let count = try #require(store.report.count)
            try tpm.stop()
            try await store.commit([.delete(.refreshToken), .put(.sample(2))])
            try await store.commit([.put(StoredRecord(key: .refreshToken, body: [1], account: .noAccount))])
            try await store.commit([.delete(.refreshToken)])
            #expect(store.report.counterProblem?.contains("does not answer") == true)
            #expect(store.report.count == count)
        }
        try await tpm.start()
        for _ in 0..<3 {
            try await use(folder, tpm) { store, records in
                #expect(records == [.sample(1), .sample(2)])
                #expect(store.report.counterProblem == nil)
            }
        }
    }

    /// The state has been written, and the agent was killed before it raised the counter of the TPM.
    @Test func acceptsAStateThatIsOneAheadOfTheTPM() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        for _ in 0..<2 {
            try await use(folder, tpm) { store, _ in
                try await store.onQueue { engine throws(TokenError) in
                    guard var mark = engine.ledger.state.mark else { throw TokenError(.internalError, "no mark") }
                    mark.count += 1
                    try engine.save(mark)
                }
            }
            try await use(folder, tpm) { _, records in #expect(records == [.sample(1)]) }
        }
        // Two ahead is no state that an agent leaves.
        try await use(folder, tpm) { store, _ in
            try await store.onQueue { engine throws(TokenError) in
                guard var mark = engine.ledger.state.mark else { throw TokenError(.internalError, "no mark") }
                mark.count += 2
                try engine.save(mark)
            }
        }
        try await expectRefusal(folder, tpm, "was counted by another TPM")
    }

    @Test func acceptsABackupThatTheUserHasPutThereHimself() async throws {
        let (folder, tpm) = (try StoreFolder(), try await EmulatedTPM())
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(1))]) }
        let backup = try Copy(of: folder)
        try await use(folder, tpm) { store, _ in try await store.commit([.put(.sample(2))]) }
        let latest = try Copy(of: folder)
        try backup.putBack()
        try await use(folder, tpm, isReset: true) { _, records in #expect(records == [.sample(1)]) }
        try await use(folder, tpm) { _, records in #expect(records == [.sample(1)]) }
        // What is set aside in this way is an earlier copy from then on.
        try latest.putBack()
        try await expectRefusal(folder, tpm, "was counted by another TPM")
    }

    /// Whichever operation fails, of the counter's first start too: the records are read or the start fails, and the next one reads them.
    @Test(arguments: FaultyDisk.Failure.allCases, [true, false])
    func opensACountedStoreAgainAfterAFailure(failure: FaultyDisk.Failure, isFirst: Bool) async throws {
        let tpm = try await EmulatedTPM()
        for after in 0... {
            let (folder, disk) = (try StoreFolder(), try FaultyDisk())
            let first = try isFirst ? folder.open() : Self.open(folder, tpm)
            for number in 1...3 { try await first.commit([.put(.sample(number))]) }
            await first.close()
            disk.fail(failure, after: after)
            let store = try Self.open(folder, tpm, vfs: disk.name)
            if let found = try? await store.load() { #expect(found.count == 3, "\(failure) after \(after)") }
            let failed = disk.failed > 0
            disk.recover()
            #expect(try await store.load().count == 3)
            try await store.commit([.put(.sample(4))])
            await store.close()
            try await use(folder, tpm) { store, records in
                #expect(records.count == 4)
                #expect(store.report.counterProblem == nil)
            }
            guard failed else { break }
        }
    }

    private func use(
        _ folder: StoreFolder, _ tpm: EmulatedTPM, isReset: Bool = false,
        _ body: (Store, [StoredRecord]) async throws -> Void
    ) async throws {
        let store = try Self.open(folder, tpm, isReset: isReset)
        let records = try await store.load()
        do { try await body(store, records) } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func expectRefusal(_ folder: StoreFolder, _ tpm: EmulatedTPM, _ reason: String) async throws {
        let store = try Self.open(folder, tpm)
        let error = await #expect(throws: TokenError.self) { try await store.load() }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.message.contains("--reset-rollback-counter") == true)
        await store.close()
    }

    /// The store, whose connection to the TPM ends when it is closed.
    private static func open(
        _ folder: StoreFolder, _ tpm: EmulatedTPM, isReset: Bool = false, vfs: String? = nil
    ) throws -> Store {
        var options = StoreOptions(vfs: vfs) { 1_900_000_000 }
        options.counter = try counter(folder, tpm, isReset: isReset)
        return try Store.open(directory: folder.path, options)
    }

    /// The counter, whose connection to the TPM ends with it. The TPM has one connection at a time.
    private static func counter(
        _ folder: StoreFolder, _ tpm: EmulatedTPM, isReset: Bool = false
    ) throws -> RollbackCounter {
        guard case .connected(let number) = try UnixSocket.connect(to: tpm.path) else {
            throw POSIXError(.ECONNREFUSED)
        }
        return RollbackCounter(
            try FileDescriptor(opened: number), name: tpm.path, directory: folder.path, isReset: isReset)
    }
}

/// A copy of a store's folder.
private struct Copy: Equatable {
    private let folder: String
    private let files: [String: Data]

    init(of folder: StoreFolder) throws {
        self.folder = folder.path
        files = try Dictionary(
            uniqueKeysWithValues: folder.names.map { name in
                (name, try Data(contentsOf: URL(filePath: "\(folder.path)/\(name)")))
            })
    }

    func putBack() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        for (name, bytes) in files {
            try bytes.write(to: URL(filePath: "\(folder)/\(name)"))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(name)")
        }
    }
}

extension RecordKey {
    fileprivate static var refreshToken: RecordKey { RecordKey(group: "group", kind: .refreshToken, key: "refresh") }
}
