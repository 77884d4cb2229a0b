internal import Foundation

/// The file of a store's database, which a test damages while the store has it open.
package struct StoreFile {
    package struct NotWritable: Error {}

    private let path: String

    package init(_ path: String) { self.path = path }

    /// The first bytes of every sealed record in the file.
    package func records() throws -> Set<[UInt8]> {
        let bytes = try self.bytes()
        return Set(Self.records(in: bytes).map { Array(bytes[$0..<$0 + Self.prefix]) })
    }

    /// Changes a byte of every sealed record, so that it is not authentic any more.
    ///
    /// - Parameter whole: the first bytes of records that stay as they are.
    package func damageRecords(except whole: Set<[UInt8]> = []) throws {
        try change { bytes in
            for start in Self.records(in: bytes) where !whole.contains(Array(bytes[start..<start + Self.prefix])) {
                bytes[start + Self.prefix - 1] ^= 1
            }
        }
    }

    /// Makes every page that has a sealed record unreadable for SQLite. The records stay.
    package func damagePages() throws {
        try change { bytes in
            // The kind of the page; there is none of this number.
            for start in Self.records(in: bytes) { bytes[start / Self.pageSize * Self.pageSize] = 0xFF }
        }
    }

    /// Writes into the file that is open, instead of replacing it.
    private func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = try self.bytes()
        body(&bytes)
        guard let file = FileHandle(forUpdatingAtPath: path) else { throw NotWritable() }
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private static func records(in bytes: [UInt8]) -> [Int] {
        bytes.indices.dropLast(prefix).filter { index in
            bytes[index] == 0xA7 && bytes[index + 1] == 0x53 && [1, 4].contains(bytes[index + 2])
                && bytes[index + 3] == 2
        }
    }

    /// Longer than the mark, the length and the head of a record.
    private static let prefix = 60
    private static let pageSize = 4096
}
