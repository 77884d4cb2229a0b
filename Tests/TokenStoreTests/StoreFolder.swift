internal import Foundation
internal import TokenStore

/// A directory of the test's own, gone with it.
final class StoreFolder: Sendable {
    let root: String
    /// Where the store goes; not made yet.
    var path: String { root + "/state/sso-agent" }
    var file: String { path + "/cache.sqlite" }

    init() throws {
        root = FileManager.default.temporaryDirectory.path + "/store-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    /// The permission bits of a file in the store's directory; nil when there is none.
    func mode(of name: String = "") -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
        return (attributes?[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Makes the store's directory, with these permission bits.
    func makeDirectory(mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    /// How many transactions the write-ahead log holds: the frames that say how large the database is after them
    /// (https://www.sqlite.org/fileformat2.html#walformat).
    func transactionsInTheLog() throws -> Int {
        let log = [UInt8](try Data(contentsOf: URL(filePath: file + "-wal")))
        let frames = stride(from: 32, to: log.count, by: 24 + 4096)
        return frames.filter { log[($0 + 4)..<($0 + 8)] != [0, 0, 0, 0] }.count
    }

    /// The files of the store as they are on disk now, in another folder: what a crash would leave.
    func copyWithoutClosing() throws -> StoreFolder {
        let copy = try StoreFolder()
        try copy.makeDirectory()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }
}
