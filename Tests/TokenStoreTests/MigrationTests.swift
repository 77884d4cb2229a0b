internal import Foundation
internal import Testing
internal import TokenModel
internal import TokenStore

/// Files as released versions wrote them, one closed in order and one whose agent was killed.
@Suite struct MigrationTests {
    @Test(arguments: ["store-1", "store-1-killed"])
    func takesOverAStoreOfVersion1AndLeavesNothingOfItUnsealed(name: String) async throws {
        let folder = try StoreFolder()
        try folder.makeDirectory()
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: fixture(name + ".sqlite" + suffix)) {
            try FileManager.default.copyItem(
                atPath: fixture(name + ".sqlite" + suffix), toPath: folder.file + suffix)
        }
        for _ in 0..<2 {
            let store = try folder.open()
            let records = try store.load()
            #expect(records.count == 14)
            let names = records.filter { $0.key.kind == .account }.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(names.contains { $0.contains("alice@contoso.com") })
            #expect(names.contains { $0.contains("bob@fabrikam.com") })
            #expect(records.count { $0.key.kind == .refreshToken } == 2)
            #expect(store.report.notices.isEmpty && store.report.quarantined.isEmpty)
            for file in folder.names {
                let bytes = try Data(contentsOf: URL(filePath: folder.path + "/" + file))
                for text in ["alice", "bob@", "app-1", "adalcache", "eyJ", "refreshtoken", "home_account_id"] {
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text) in \(file)")
                }
            }
            await store.close()
        }
    }

    private func fixture(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name)").path
    }
}
