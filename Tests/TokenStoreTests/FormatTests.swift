internal import Foundation
internal import Testing
internal import TokenModel
internal import TokenStore

@Suite struct FormatTests {
    @Test(arguments: [
        Data("not a database, and longer than the sixteen bytes of SQLite's own header".utf8),
        Data(repeating: 0x5a, count: 8192),
    ])
    func refusesAFileThatIsNotADatabaseAndLeavesItAsItWas(contents: Data) throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        try contents.write(to: URL(filePath: folder.file))
        let error = #expect(throws: TokenError.self) { try TokenStore.open(directory: folder.path) }
        #expect(error?.code == .cacheBadFormat)
        #expect(try Data(contentsOf: URL(filePath: folder.file)) == contents)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cache.sqlite"])
    }

    @Test func refusesANewerFormatAndLeavesItAsItWas() async throws {
        let folder = try await storeWithOneRecord()
        // The file format's "user version" and "application ID": https://www.sqlite.org/fileformat2.html#the_database_header
        let newer = try overwrite(folder, at: 60, with: [0, 0, 0, 2])
        let error = #expect(throws: TokenError.self) { try TokenStore.open(directory: folder.path) }
        #expect(error?.code == .cacheBadFormat)
        #expect(error?.message.contains("update sso-agent") == true)
        #expect(try Data(contentsOf: URL(filePath: folder.file)) == newer)
    }

    @Test func refusesAnotherProgramsDatabase() async throws {
        let folder = try await storeWithOneRecord()
        _ = try overwrite(folder, at: 68, with: [1, 2, 3, 4])
        let error = #expect(throws: TokenError.self) { try TokenStore.open(directory: folder.path) }
        #expect(error?.code == .cacheBadFormat)
    }

    @Test func startsAfreshInAnEmptyFileAsACrashAtTheFirstStartLeavesIt() async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        #expect(FileManager.default.createFile(atPath: folder.file, contents: nil))
        let store = try TokenStore.open(directory: folder.path)
        #expect(try store.load().isEmpty)
        await store.close()
    }

    @Test func reportsADamagedPageAndDeletesNothing() async throws {
        let folder = try StoreFolder()
        let store = try TokenStore.open(directory: folder.path)
        try await store.commit((0..<500).map { .put(.sample($0)) })
        await store.close()
        let damaged = try overwrite(folder, at: 4096, with: Array(repeating: 0xff, count: 4096))
        let again = try TokenStore.open(directory: folder.path)
        let error = #expect(throws: TokenError.self) { try again.load() }
        #expect(error?.code == .cacheBadFormat)
        await again.close()
        #expect(try Data(contentsOf: URL(filePath: folder.file)) == damaged)
    }

    private func storeWithOneRecord() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try TokenStore.open(directory: folder.path)
        try await store.commit([.put(.sample(1))])
        await store.close()
        return folder
    }

    private func overwrite(_ folder: StoreFolder, at offset: Int, with bytes: [UInt8]) throws -> Data {
        var contents = try Data(contentsOf: URL(filePath: folder.file))
        contents.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        try contents.write(to: URL(filePath: folder.file))
        return contents
    }
}
