internal import Dispatch
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

@Suite(.bounded) struct CommitTests {
    @Test func writesReadsReplacesAndDeletes() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([
            .put(.sample(1)), .put(.sample(2, group: "other")), .put(.sample(3, group: "other")),
            .put(StoredRecord(key: RecordKey(group: "a\0b", kind: .account, key: "é\0 key"), body: [])),
        ])
        try await store.commit([.put(.sample(1, fill: 0x42)), .deleteGroup("other"), .delete(.sample(9))])
        #expect(
            try await store.sorted() == [
                StoredRecord(key: RecordKey(group: "a\0b", kind: .account, key: "é\0 key"), body: []),
                .sample(1, fill: 0x42),
            ])
        await store.close()
    }

    @available(macOS 26, *)
    @Test func keepsTheOrderOfCallsThatShareATransaction() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let sender = Sender(store: store)
        async let first: Void = sender.commitPutsAndDeletes(1...50)
        async let second: Void = sender.commitPutsAndDeletes(51...100)
        _ = try await (first, second)
        #expect(try await store.load().isEmpty)
        await store.close()
    }

    @available(macOS 26, *)
    @Test func writesTheCommitsThatWaitInOneTransaction() async throws {
        try await expectOneTransaction(of: 100) { store, group in
            store.queue.suspend()
            for number in 1...100 {
                group.addImmediateTask { try await store.commit([.put(.sample(number))]) }
            }
            store.queue.resume()
        }
    }

    /// A commit that waits for no others ends the wait of those before it.
    @available(macOS 26, *)
    @Test func writesTheCommitsThatGatherWithTheFirstThatDoesNot() async throws {
        try await expectOneTransaction(of: 11) { store, group in
            for number in 1...10 {
                group.addImmediateTask { try await store.commit([.put(.sample(number))], gatheringFor: .seconds(3600)) }
            }
            group.addImmediateTask { try await store.commit([.put(.sample(11))]) }
        }
    }

    /// Expects that a new store writes the commits of the tasks that `add` starts in one transaction.
    @available(macOS 26, *)
    private func expectOneTransaction(
        of count: Int, sourceLocation: SourceLocation = #_sourceLocation,
        _ add: (Store, inout ThrowingTaskGroup<Void, any Error>) -> Void
    ) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.load()
        let before = try folder.transactionsInTheLog()
        try await withThrowingTaskGroup { group in
            add(store, &group)
            try await group.waitForAll()
        }
        #expect(try folder.transactionsInTheLog() == before + 1, sourceLocation: sourceLocation)
        #expect(try await store.load().count == count, sourceLocation: sourceLocation)
        await store.close()
    }

    @available(macOS 26, *)
    @Test func writesTheCommitsThatGatherAfterTheirTime() async throws {
        let folder = try StoreFolder()
        let timers = Timers()
        var options = StoreOptions { 1_900_000_000 }
        options.timer = { time, end in timers.begun.withLock { $0.append((time, end)) } }
        let store = try Store.open(directory: folder.path, options)
        _ = try await store.load()
        let before = try folder.transactionsInTheLog()
        try await withThrowingTaskGroup { group in
            for number in 1...10 {
                group.addImmediateTask { try await store.commit([.put(.sample(number))], gatheringFor: .seconds(1)) }
            }
            let begun = timers.begun.withLock(\.self)
            #expect(begun.map(\.time) == [.seconds(1)])
            #expect(try folder.transactionsInTheLog() == before)
            begun.first?.end()
            try await group.waitForAll()
        }
        #expect(try folder.transactionsInTheLog() == before + 1)
        #expect(try await store.load().count == 10)
        await store.close()
    }

    @available(macOS 26, *)
    @Test(arguments: [false, true])
    func writesTheCommitsThatGatherBeforeItIsClosedOrLocked(isLocked: Bool) async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        _ = try await store.load()
        try await withThrowingTaskGroup { group in
            group.addImmediateTask { try await store.commit([.put(.sample(1))], gatheringFor: .seconds(3600)) }
            if isLocked { try await store.lock() } else { await store.close() }
            try await group.waitForAll()
        }
        await store.close()
        #expect(try await folder.open().load() == [.sample(1)])
    }

    /// As an agent that stops on a disk that does not answer. What was being written is finished when the disk answers.
    @Test func waitsForALimitedTimeWhenItIsClosed() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        store.queue.suspend()
        #expect(await !store.close(by: .now()))
        store.queue.resume()
        #expect(await store.close())
        try await folder.open().close()
    }

    @Test func writesAllChangesOfACallOrNone() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        try store.limitPages(to: 20)
        await #expect(throws: TokenError.self) {
            try await store.commit([.delete(.sample(1)), .put(.sample(2)), .put(.sample(3, size: 200_000))])
        }
        #expect(try await store.load() == [.sample(1)])
        await store.close()
    }

    /// A sign-out of everybody may share a transaction with what was being saved.
    @Test func deletesWithAGroupWhatWasWrittenBeforeInTheSameTransaction() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1)), .deleteGroup("group"), .put(.sample(2))])
        #expect(try await store.load() == [.sample(2)])
        await store.close()
    }

    /// They may have reached the disk: of two versions of a record, the one with the higher number is the later one.
    @Test func givesTheNumbersOfAFailedCommitToNoOther() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        try store.limitPages(to: 20)
        let before = try store.lastNumber()
        await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(2, size: 200_000))]) }
        #expect(try store.lastNumber() > before)
        await store.close()
    }

    /// The agent would tell its user that the disk cannot be written.
    @Test func takesAnErrorOfAnImportForNoneOfTheDisk() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let error = await #expect(throws: TokenError.self) {
            try await store.commit { (number: Int) throws(TokenError) -> [StoreChange]? in
                guard number > 0 else { return [.put(.sample(1))] }
                throw TokenError(.invalidDeveloperParameter, "the import ends early")
            }
        }
        #expect(error?.code == .invalidDeveloperParameter)
        #expect(store.report.writeError == nil)
        #expect(try await store.load().isEmpty)
        await store.close()
    }

    @Test func doesNotFailOtherCommitsWithAFailedOne() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try store.limitPages(to: 40)
        let kept = await withTaskGroup(of: Bool.self) { group in
            for number in 1...20 {
                group.addTask {
                    let size = number == 10 ? 400_000 : 100
                    return (try? await store.commit([.put(.sample(number, size: size))])) != nil
                }
            }
            return await group.reduce(into: 0) { kept, made in kept += made ? 1 : 0 }
        }
        #expect(kept == 19)
        #expect(try await store.load().count == 19)
        await store.close()
    }

    @Test func refusesCommitsAfterItWasClosed() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        await store.close()
        await store.close()
        let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(1))]) }
        #expect(error?.code == .storeUnavailable)
        await #expect(throws: TokenError.self) { try await store.load() }
    }

    @Test func loadsTenThousandRecords() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit((0..<10_000).map { .put(.sample($0, size: 1_000)) })
        let loaded = try await store.load()
        #expect(loaded.count == 10_000)
        #expect(Set(loaded.map(\.key)).count == 10_000)
        await store.close()
    }
}

extension Store {
    /// The last number that was given to a record.
    fileprivate func lastNumber() throws(TokenError) -> Int64 {
        try queue.sync { withEngine { engine throws(TokenError) in engine.ledger.state.counter } }.get()
    }
}

/// The timers that a store has begun, which end when the test says so.
private final class Timers: Sendable {
    let begun = Mutex<[(time: Duration, end: @Sendable () -> Void)]>([])
}

/// Calls `commit` in a known order, as the agent's actor does.
@available(macOS 26, *)
private actor Sender {
    let store: Store

    init(store: Store) { self.store = store }

    func commitPutsAndDeletes(_ numbers: ClosedRange<Int>) async throws {
        try await withThrowingTaskGroup { group in
            for number in numbers {
                // Child tasks of an actor's method are enqueued in the order of their creation.
                group.addImmediateTask { try await self.store.commit([.put(.sample(number))]) }
                group.addImmediateTask { try await self.store.commit([.delete(.sample(number))]) }
            }
            try await group.waitForAll()
        }
    }
}
