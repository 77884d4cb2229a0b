internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

/// Reading single records while the store is in use.
@Suite(.bounded) struct RecordReadingTests {
    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    @Test func readsTheLatestVersionsOfRecords() async throws {
        let store = try await store()
        try await store.commit([.put(.sample(3, fill: 0x42)), .delete(.sample(4))])
        let keys = [3, 4, 5, 99].map { RecordKey.sample($0) }
        let read = try await store.records(with: keys)
        #expect(Set(read.map(\.key)) == [.sample(3), .sample(5)])
        #expect(read.first { $0.key == .sample(3) }?.body.first == 0x42)
        #expect(try store.readRecords(with: keys) == read)
        await store.close()
    }

    @Test func readsAfterAChangeOfTheKey() async throws {
        let store = try await store()
        try await store.changeKeySource(to: .file, passphrase: nil)
        #expect(try await store.records(with: [.sample(7)]) == [.sample(7)])
        await store.close()
    }

    @Test func refusesToReadALockedOrClosedStore() async throws {
        let store = try await store()
        try await store.lock()
        await #expect(throws: TokenError.self) { try await store.records(with: [.sample(7)]) }
        await store.close()
        #expect(throws: TokenError.self) { try store.readRecords(with: [.sample(7)]) }
    }

    private func store() async throws -> Store {
        let store = try folder.open()
        _ = try store.load()
        for number in 0..<10 { try await store.commit([.put(.sample(number))]) }
        return store
    }
}
