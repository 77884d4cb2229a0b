internal import Foundation
internal import TestSupport
internal import TokenModel

@testable internal import TokenStore

/// A directory for one test, removed with the value.
final class StoreFolder: Sendable {
    let root: String
    /// The directory of the store, which is not created yet.
    var path: String { root + "/state/sso-agent" }
    var file: String { path + "/cache.sqlite" }

    /// - Parameter inMemory: whether to use a file system in memory, if there is one.
    init(inMemory: Bool = false) throws {
        let usual = FileManager.default.temporaryDirectory.path
        let parent = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : usual
        root = parent + "/store-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    }

    /// Opens the store of the directory.
    func open(
        vfs: String? = nil, keys: KeySettings = KeySettings(), didCommit: (@Sendable (StoreCommit) -> Void)? = nil
    ) throws(TokenError) -> Store {
        var options = StoreOptions(keys: keys, vfs: vfs) { 1_900_000_000 }
        options.didCommit = didCommit
        return try Store.open(directory: path, options)
    }

    static func open(_ directory: String) throws(TokenError) -> Store {
        try Store.open(directory: directory, StoreOptions { 1_900_000_000 })
    }

    /// A folder with a closed store of one record.
    static func withOneRecord() async throws -> StoreFolder {
        let folder = try StoreFolder()
        let store = try folder.open()
        try await store.commit([.put(.sample(1))])
        await store.close()
        return folder
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// The permission bits of a file in the store's directory; nil if it does not exist.
    func mode(of name: String = "") -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Makes the store's directory with permission bits.
    func makeDirectory(mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// The names of the files in the store's directory.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    /// The number of transactions in the write-ahead log: of frames with a database size
    /// (https://www.sqlite.org/fileformat2.html#walformat).
    func transactionsInTheLog() throws -> Int {
        guard let log = FileManager.default.contents(atPath: file + "-wal").map({ [UInt8]($0) }) else { return 0 }
        let frames = stride(from: 32, to: log.count, by: 24 + 4096)
        return frames.filter { log[($0 + 4)..<($0 + 8)] != [0, 0, 0, 0] }.count
    }

    /// A folder with the files of a store that an earlier version wrote; see `Fixtures`.
    convenience init(fixture name: String) throws {
        try self.init()
        try makeDirectory()
        let source = PackageFolder.path("Tests/TokenStoreTests/Fixtures/\(name).sqlite")
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: file + suffix)
        }
        // Unsealed stores have no key.
        guard !name.hasPrefix("store-1") else { return }
        let key = path + "/" + KeyFile.name
        try FileManager.default.copyItem(
            atPath: PackageFolder.path("Tests/TokenStoreTests/Fixtures/store-2.key"), toPath: key)
    }

    /// The version in the database, as SQLite sees it.
    func version() throws -> Int {
        let copy = try copyWithoutClosing()
        return try StoreDatabase.connect(copy.file).integer("PRAGMA user_version")
    }

    /// A copy of the store's files in another directory, as a crash would leave them.
    func copyWithoutClosing() throws -> StoreFolder {
        let copy = try StoreFolder()
        try copy.makeDirectory()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }
}

extension Store {
    /// Loads the store; returns every record.
    func load() async throws(TokenError) -> [StoredRecord] { try await load(into: [StoredRecord].self) }

    /// The records, sorted.
    func sorted() async throws(TokenError) -> [StoredRecord] {
        try await load().sorted { left, right in
            (left.key.group, left.key.kind.rawValue, left.key.key) < (
                right.key.group, right.key.kind.rawValue, right.key.key
            )
        }
    }

    /// Limits the size of the database in pages of 4 KiB, and returns the limit. A test simulates a full disk with it.
    @discardableResult
    func limitPages(to pages: Int) throws(TokenError) -> Int {
        try queue.sync {
            withEngine { engine throws(TokenError) in
                _ = try engine.derivedKeys()
                return try engine.database?.connection.integer("PRAGMA max_page_count = \(pages)") ?? 0
            }
        }.get()
    }
}

extension Store {
    /// Drops SQLite's copies of pages, so that the next operation reads the file.
    func forgetPages() throws(TokenError) {
        try queue.sync {
            withEngine { engine throws(TokenError) in
                try engine.database?.connection.execute("PRAGMA shrink_memory")
            }
        }.get()
    }
}

extension RecordKey {
    static func sample(_ number: Int, group: String = "group", kind: RecordKind = .refreshToken) -> RecordKey {
        RecordKey(group: group, kind: kind, key: "key-\(number)")
    }
}

extension StoredRecord {
    /// - Parameter account: by default one of three accounts; every fourth record has none.
    static func sample(
        _ number: Int, group: String = "group", size: Int = 100, fill: UInt8 = 0x41, account: RecordAccount? = nil
    ) -> StoredRecord {
        let usual: RecordAccount = number % 4 == 0 ? .noAccount : .account("account-\(number % 4)")
        return StoredRecord(
            key: .sample(number, group: group), body: Array(repeating: fill, count: size), account: account ?? usual)
    }
}
