internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

/// Files of other versions and programs are kept and reported, and a new store is started.
@Suite(.bounded) struct FormatTests {
    @Test(arguments: [
        Data("not a database, and longer than the sixteen bytes of SQLite's own header".utf8),
        Data(repeating: 0x5a, count: 8192),
    ])
    func quarantinesAFileThatIsNotADatabase(contents: Data) async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try contents.write(to: URL(filePath: folder.file))
        try await expectFreshStart(folder, keeping: contents)
    }

    @Test func quarantinesANewerFormatAndRecommendsAnUpdate() async throws {
        let folder = try await StoreFolder.withOneRecord()
        // The file format's "user version" and "application ID": https://www.sqlite.org/fileformat2.html#the_database_header
        let newer = try overwrite(folder, at: 60, with: [0, 0, 0, 4])
        try await expectFreshStart(folder, keeping: newer, saying: ["update sso-agent, and sign in"], servingRecords: 1)
    }

    /// `ssoctl doctor` would say no more about the file than this error.
    @Test func saysInWordsWhatToDoWithAQuarantinedFileThatMayNeedTheKey() async throws {
        let folder = try await StoreFolder.withOneRecord()
        try Data().write(to: URL(filePath: folder.file + ".quarantine-20300317T174640Z"))
        let store = try folder.open()
        #expect(try await store.load().count == 1)
        let error = await #expect(throws: TokenError.self) {
            try await store.changeKeySource(to: .passphrase, passphrase: Secret("correct horse"))
        }
        #expect(error?.message.contains("delete it, or move it elsewhere together with that key") == true)
        #expect(error?.forApps.details.nextCommand == nil)
        await store.close()
    }

    @Test func quarantinesAnotherProgramsDatabase() async throws {
        let folder = try await StoreFolder.withOneRecord()
        let other = try overwrite(folder, at: 68, with: [1, 2, 3, 4])
        try await expectFreshStart(folder, keeping: other, saying: ["another program"], servingRecords: 1)
    }

    @Test(arguments: [true, false])
    func reportsAnEmptiedStoreAndTheSourceOfTheNewKey(hasKeyFile: Bool) async throws {
        let folder = try await StoreFolder.withOneRecord()
        if !hasKeyFile { try FileManager.default.removeItem(atPath: folder.path + "/cache.key") }
        try Data().write(to: URL(filePath: folder.file))
        try await expectFreshStart(
            folder, keeping: Data(), saying: ["emptied", "its key comes from \(folder.path)/cache.key"])
    }

    @Test func recoversIntactRecordsWhenAPageIsDamaged() async throws {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit((0..<500).map { .put(.sample($0)) })
        await store.close()
        let pages = try Data(contentsOf: URL(filePath: folder.file)).count / 4096
        let damaged = try overwrite(folder, at: (pages / 2) * 4096, with: Array(repeating: 0xff, count: 4096))
        let again = try folder.open()
        let saved = try await again.load()
        #expect((450..<500).contains(saved.count))
        #expect(again.report.notices.count == 1)
        let quarantined = try #require(again.report.quarantined.first)
        #expect(try Data(contentsOf: URL(filePath: folder.path + "/" + quarantined)) == damaged)
        try await again.commit([.put(.sample(1000))])
        await again.close()
        let third = try folder.open()
        #expect(try await third.load().count == saved.count + 1)
        #expect(third.report.notices.isEmpty)
        #expect(third.report.quarantined == [quarantined])
        await third.close()
    }

    private func expectFreshStart(
        _ folder: StoreFolder, keeping contents: Data, saying texts: [String] = ["damaged or not a database"],
        servingRecords count: Int = 0
    ) async throws {
        let store = try folder.open()
        #expect(try await store.load().count == count)
        for text in texts { #expect(store.report.notices.first?.contains(text) == true) }
        #expect(store.report.quarantined == ["cache.sqlite.quarantine-20300317T174640Z"])
        let kept = try Data(contentsOf: URL(filePath: folder.path + "/" + (store.report.quarantined.first ?? "?")))
        #expect(kept == contents)
        try await store.commit([.put(.sample(7))])
        await store.close()
        let again = try folder.open()
        #expect(try await again.load().count == count + 1)
        await again.close()
    }

    private func overwrite(_ folder: StoreFolder, at offset: Int, with bytes: [UInt8]) throws -> Data {
        var contents = try Data(contentsOf: URL(filePath: folder.file))
        contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        try contents.write(to: URL(filePath: folder.file))
        return contents
    }
}
