internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenStore

@Suite(.bounded) struct FullDiskTests {
    @Test func reportsAFullDiskAndWritesAgainLater() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        try store.limitPages(to: 20)
        let error = await #expect(throws: TokenError.self) {
            try await store.commit([.put(.sample(2, size: 200_000))])
        }
        #expect(error?.code == .storeUnavailable)
        #expect(error?.message.contains("is full; free some space") == true)

        try await store.commit([.put(.sample(3))])
        try store.limitPages(to: 100_000)
        try await store.commit([.put(.sample(2, size: 200_000))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.sorted().map(\.key) == [.sample(1), .sample(2), .sample(3)])
        await again.close()
    }

    /// The log may grow to four megabytes, of a database that has some pages.
    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func writesTheLogIntoTheDatabaseIfThatMakesRoom() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let first = try folder.open()
        for number in 1...20 { try await first.commit([.put(.sample(number, size: 3000))]) }
        // The database has got its size, with pages that are free.
        try await first.commit((9...20).map { .delete(.sample($0)) })
        await first.close()
        try Data(count: 7 << 20).write(to: URL(filePath: folder.path + "/other"))
        let store = try folder.open()
        for round in 0..<200 {
            try await store.commit([.put(.sample(round % 8 + 1, size: 3000, fill: UInt8(round)))])
        }
        #expect(store.report.writeError == nil)
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == 8)
        await again.close()
        try mount.remount("rw")
    }

    /// SQLite cannot make its log, and reports that it cannot open the database.
    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func saysThatTheDiskHasNoInodeLeft() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path, inodes: 8)
        let first = try folder.open()
        try await first.commit([.put(.sample(1))])
        await first.close()
        // The folder, the key and the database have one each.
        for number in 1...5 { try Data().write(to: URL(filePath: folder.path + "/other-\(number)")) }
        let store = try folder.open()
        #expect(try await store.load() == [.sample(1)])
        let error = await #expect(throws: TokenError.self) { try await store.commit([.put(.sample(2))]) }
        #expect(error?.message.contains("has no inode for another file") == true, "\(String(describing: error))")
        #expect(error?.details.nextCommand == "df -i \(folder.path)")
        try FileManager.default.removeItem(atPath: folder.path + "/other-1")
        try await store.commit([.put(.sample(2))])
        #expect(store.report.writeError == nil)
        await store.close()
        try mount.remount("rw")
    }

    /// The note is short: a disk that has room for it may have none for the tokens that replace the one that was sent.
    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"), arguments: [4, 8, 12, 16, 20, 24, 28, 32, 64, 512])
    func writesARedemptionNoteOnlyIfThereIsRoomForTheResponse(free: Int) async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let store = try folder.open()
        try await store.commit([.put(.sample(1, size: 3000))])
        let system = try FileManager.default.attributesOfFileSystem(forPath: folder.path)
        let room = try #require(system[.systemFreeSize] as? NSNumber).intValue
        try Data(count: room - free << 10).write(to: URL(filePath: folder.path + "/other"))
        let note = StoredRecord(key: .sample(1, kind: .redemption), body: [0x7B, 0x7D], account: .noAccount)
        let isWritten = await (try? store.commit([.put(note)])) != nil
        #expect(isWritten || free < 512)
        if isWritten { try await store.commit([.put(.sample(1, size: 12_000, fill: 0x42)), .delete(note.key)]) }
        await store.close()
        try mount.remount("rw")
    }

    /// A sign-out of another account empties the log, which has the room that was reserved for the response.
    @Test(.enabled(if: Tmpfs.isPossible, "mounting takes root"))
    func hasRoomForTheResponseThoughItsLogWasEmptiedMeanwhile() async throws {
        let folder = try StoreFolder()
        let mount = try Tmpfs(at: folder.path)
        let store = try folder.open()
        for number in 1...2 { try await store.commit([.put(.sample(number, size: 3000))]) }
        let note = StoredRecord(key: .sample(1, kind: .redemption), body: [0x7B, 0x7D], account: .noAccount)
        try await store.commit([.put(note)])
        try await store.commit([.delete(.sample(2))])
        await store.truncateLog()
        // Another program takes all that is free but one page.
        let system = try FileManager.default.attributesOfFileSystem(forPath: folder.path)
        let room = try #require(system[.systemFreeSize] as? NSNumber).intValue
        try Data(count: room - 4096).write(to: URL(filePath: folder.path + "/other"))
        try await store.commit([.put(.sample(1, size: 12_000, fill: 0x42)), .delete(note.key)])
        #expect(store.report.writeError == nil)
        await store.close()
        try mount.remount("rw")
    }

    /// A quota is reported as another error than a full disk, as is the limit of a file's size.
    @Test func writesTheLogIntoTheDatabaseIfTheKernelRefusesToMakeItLonger() async throws {
        let folder = try StoreFolder()
        // In a process of its own, since the limit applies to the process.
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let store = try StoreFolder.open(path)
            for number in 1...8 { try await store.commit([.put(.sample(number, size: 3000))]) }
            FileSizeLimit.set(512 * 1024)
            for round in 0..<200 {
                try await store.commit([.put(.sample(round % 8 + 1, size: 3000, fill: UInt8(round)))])
            }
            #expect(store.report.writeError == nil)
            FileSizeLimit.set(nil)
            await store.close()
        }
        let again = try folder.open()
        #expect(try await again.load().count == 8)
        await again.close()
    }

    @Test func continuesAfterAWriteThatTheKernelRefused() async throws {
        let folder = try StoreFolder()
        // In a process of its own, since the limit applies to the process.
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let store = try StoreFolder.open(path)
            try await store.commit([.put(.sample(1))])
            FileSizeLimit.set(64 * 1024)
            let error = await #expect(throws: TokenError.self) {
                try await store.commit([.put(.sample(2, size: 200_000))])
            }
            #expect(error?.code == .storeUnavailable)
            FileSizeLimit.set(nil)
            try await store.commit([.put(.sample(3))])
            #expect(try await store.load().map(\.key) == [.sample(1), .sample(3)])
            await store.close()
        }
        let again = try folder.open()
        #expect(try await again.load().map(\.key) == [.sample(1), .sample(3)])
        await again.close()
    }
}
