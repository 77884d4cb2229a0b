internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Each operation of a series of commits fails once, or from then on: completed commits are durable, no commit is partial,
/// and the failure is not taken for damage.
@Suite(.bounded) struct FaultTests {
    @Test(arguments: FaultyDisk.Failure.allCases, [1, nil])
    func keepsCompletedCommitsWhicheverOperationFails(failure: FaultyDisk.Failure, count: Int?) async throws {
        var seed = TestSeed()
        for after in 0... {
            var run = try await Run(seed.seed &+ UInt64(after))
            let failed = try await run.commits(with: failure, after: after, count: count)
            try await run.check("\(failure) after \(after) of \(count ?? -1); \(seed)")
            guard failed else { break }
            _ = seed.next()
        }
    }

    @Test(arguments: FaultyDisk.Failure.allCases)
    func opensAStoreAgainAfterAFailure(failure: FaultyDisk.Failure) async throws {
        for after in 0... {
            let (folder, disk) = (try StoreFolder(), try FaultyDisk())
            let first = try folder.open()
            for number in 1...5 { try await first.commit([.put(.sample(number))]) }
            let crashed = try folder.copyWithoutClosing()
            await first.close()

            disk.fail(failure, after: after)
            let store = try crashed.open(vfs: disk.name)
            // The store is read without SQLite, or refused; it is never taken for empty.
            if let found = try? await store.load() { #expect(found.count == 5, "\(failure) after \(after)") }
            let failed = disk.failed > 0
            disk.recover()
            #expect(try await store.load().count == 5)
            try await store.commit([.put(.sample(6))])
            #expect(store.report.quarantined.isEmpty && store.report.writeError == nil)
            await store.close()
            let again = try crashed.open()
            #expect(try await again.load().count == 6)
            #expect(again.report.notices.isEmpty)
            await again.close()
            guard failed else { break }
        }
    }

    /// The key was found before the disk failed: the next attempt has to find it again.
    @Test func needsThePassphraseAgainAfterALoadThatFailed() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let first = try folder.open()
        for number in 1...5 { try await first.commit([.put(.sample(number))]) }
        try await first.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        await first.close()
        var loadsThatFailed = 0
        for after in 0... {
            let store = try folder.open(vfs: disk.name)
            disk.fail(.read, after: after)
            if let found = try? await store.load(passphrase: Secret("correct horse"), into: [StoredRecord].self) {
                #expect(found.count == 5)
            } else {
                loadsThatFailed += 1
                disk.recover()
                await #expect(throws: TokenError.self, "\(after)") {
                    try await store.load(passphrase: Secret("wrong horse"), into: [StoredRecord].self)
                }
                #expect(try await store.load(passphrase: Secret("correct horse"), into: [StoredRecord].self).count == 5)
            }
            let failed = disk.failed > 0
            disk.recover()
            await store.close()
            guard failed else { break }
        }
        #expect(loadsThatFailed > 0)
    }

    @Test func servesItsRecordsOnADiskThatCannotBeWritten() async throws {
        let (folder, disk) = (try StoreFolder(), try FaultyDisk())
        let first = try folder.open()
        try await first.commit([.put(.sample(1)), .put(.sample(2))])
        await first.close()
        disk.fail(.full)
        let store = try folder.open(vfs: disk.name)
        #expect(try await store.load().count == 2)
        for _ in 0..<3 {
            let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(3))]) }
            #expect(error?.code == .storeUnavailable)
        }
        #expect(store.report.writeError?.code == .storeUnavailable)
        disk.recover()
        try await store.commit([.put(.sample(3))])
        #expect(store.report.writeError == nil)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 3)
        await again.close()
    }

    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func servesAReadOnlyFileSystem() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let first = try folder.open()
        for number in 1...3 { try await first.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()
        await first.close()
        for name in crashed.names {
            let bytes = try Data(contentsOf: URL(filePath: crashed.path + "/" + name))
            try bytes.write(to: URL(filePath: folder.path + "/" + name))
        }
        try mount.remount("ro")
        let store = try folder.open()
        #expect(try await store.load().count == 3)
        let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(4))]) }
        #expect(error?.code == .storeUnavailable)
        _ = await store.keyProblem()
        #expect(store.report.writeError?.code == .storeUnavailable)
        try mount.remount("rw")
        // Without a change, as for a user who has followed the advice of “ssoctl doctor”, and runs it again.
        _ = await store.keyProblem()
        #expect(store.report.writeError == nil)
        try await store.commit([.put(.sample(4))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 4)
        #expect(again.report.notices.isEmpty)
        await again.close()
    }
}

/// A series of commits on a failing disk, with their results.
private struct Run {
    private let folder: StoreFolder
    private let disk: FaultyDisk
    private var random: TestSeed
    private var promised: [RecordKey: StoredRecord] = [:]

    init(_ seed: UInt64) async throws {
        folder = try StoreFolder()
        disk = try FaultyDisk()
        random = TestSeed(seed)
    }

    /// - Returns: whether any operation failed.
    mutating func commits(with failure: FaultyDisk.Failure, after: Int, count: Int?) async throws -> Bool {
        let store = try folder.open(vfs: disk.name)
        try await commit(to: store)
        disk.fail(failure, after: after, count: count)
        for _ in 0..<6 { try? await commit(to: store) }
        let failed = disk.failed > 0
        disk.recover()
        // The series continues after a failure. Until the next commit, a crash may complete the failed one.
        let last = StoredRecord.sample(99)
        try await store.commit([.put(last)])
        promised[last.key] = last
        #expect(Dictionary(uniqueKeysWithValues: try await store.load().map { ($0.key, $0) }) == promised)
        let crashed = try folder.copyWithoutClosing()
        await store.close()
        let again = try crashed.open()
        #expect(Dictionary(uniqueKeysWithValues: try await again.load().map { ($0.key, $0) }) == promised)
        #expect(again.report.notices.isEmpty, "\(again.report.notices)")
        await again.close()
        return failed
    }

    func check(_ comment: String) async throws {
        let store = try folder.open()
        let found = Dictionary(uniqueKeysWithValues: try await store.load().map { ($0.key, $0) })
        #expect(found == promised, "\(comment)")
        #expect(store.report.notices.isEmpty && store.report.quarantined.isEmpty, "\(comment): \(store.report.notices)")
        await store.close()
    }

    private mutating func commit(to store: Store) async throws {
        var changes: [StoreChange] = []
        var after = promised
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let record = StoredRecord.sample(
                Int.random(in: 1...8, using: &random), size: Int.random(in: 10...6000, using: &random),
                fill: UInt8.random(in: 0...255, using: &random))
            if Int.random(in: 0..<4, using: &random) == 0 {
                changes.append(.delete(record.key))
                after[record.key] = nil
            } else {
                changes.append(.put(record))
                after[record.key] = record
            }
        }
        try await store.commit(changes)
        promised = after
    }
}
