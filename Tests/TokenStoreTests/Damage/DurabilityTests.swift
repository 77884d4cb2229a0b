internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@Suite(.bounded) struct DurabilityTests {
    @Test func keepsEveryRecordWhenItIsClosedAndOpenedAgain() async throws {
        let folder = try StoreFolder()
        let records = RecordKind.allCases.map { kind in
            StoredRecord(key: .sample(1, kind: kind), body: [0, 1, 255, UInt8(kind.rawValue)])
        }
        let store = try folder.open()
        try await store.commit(records.map(StoreChange.put))
        await store.close()

        let again = try folder.open()
        #expect(try await again.sorted() == records)
        await again.close()
    }

    @Test func keepsCommitsWhenTheFilesAreCopiedWithoutClosing() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        for number in 1...20 { try await store.commit([.put(.sample(number))]) }
        let crashed = try folder.copyWithoutClosing()

        let copy = try crashed.open()
        #expect(try await copy.load().count == 20)
        await copy.close()
        await store.close()
    }

    @Test func keepsCommitsWhenTheProcessIsKilled() async throws {
        let folder = try StoreFolder()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let store = try StoreFolder.open(path)
            try await store.commit([.put(.sample(1)), .put(.sample(2))])
            try await store.commit([.delete(.sample(1))])
            kill(getpid(), SIGKILL)
        }
        let store = try folder.open()
        #expect(try await store.load() == [.sample(2)])
        await store.close()
    }

    @Test func keepsNothingOfADeletedRecordInTheDatabaseFile() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        let secret = StoredRecord(key: .sample(1), body: Array("a-refresh-token-to-forget".utf8))
        try await store.commit([.put(secret)])
        try await store.commit([.delete(secret.key)])
        await store.close()
        let bytes = try Data(contentsOf: URL(filePath: folder.file))
        #expect(bytes.range(of: Data(secret.body)) == nil)
        #expect(folder.mode(of: "cache.sqlite-wal") == nil)
    }
}
