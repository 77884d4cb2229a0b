internal import Foundation
internal import PosixFiles
internal import TokenModel

@testable internal import TokenStore

/// A small store as a crash leaves it, with records in the database and in the log.
struct DamageSample: Sendable {
    typealias Records = [RecordKey: StoredRecord]

    /// The content of each file.
    private(set) var files: [String: [UInt8]] = [:]
    /// The records after the first commits of the log: after none, after one, and so on.
    private(set) var stages: [Records] = []
    /// The ends of the commits in the log.
    private(set) var commitEnds: [Int] = []
    private var pieces: [Piece] = []

    static let database = StorePaths.name
    static let log = StorePaths.name + "-wal"
    static let key = KeyFile.name
    static let names = [database, log, key]

    /// The length of a frame of the log: a header and a page. The log has a header of 32 bytes.
    private static let frame = 24 + 4096

    /// The records after the last commit.
    var latest: Records { stages.last ?? [:] }

    /// A part of a record's sealed bytes, and all of its places in the files.
    private struct Piece {
        let key: RecordKey
        var places: [(file: String, range: Range<Int>)] = []
    }

    init() async throws {
        let folder = try StoreFolder()
        let first = try folder.open()
        // The first two records fill a page that the log does not change.
        let early = [1_900, 1_900, 400, 400].enumerated().map { StoredRecord.sample($0 + 1, size: $1) }
        for record in early { try await first.commit([.put(record)]) }
        await first.close()
        stages = [Dictionary(uniqueKeysWithValues: early.map { ($0.key, $0) })]

        let second = try folder.open()
        // A replaced record, a record with an overflow page, and a commit that only removes one.
        for changes in [
            [.put(.sample(3, size: 400, fill: 0x42)), .put(.sample(5, size: 4_500))], [.delete(.sample(4))],
        ] as [[StoreChange]] {
            try await second.commit(changes)
            stages.append(Dictionary(uniqueKeysWithValues: try await second.load().map { ($0.key, $0) }))
        }
        let crashed = try folder.copyWithoutClosing()
        await second.close()
        for name in Self.names { files[name] = try PrivateFiles.store.read(crashed.path + "/" + name) }
        commitEnds = Self.commitEnds(in: files[Self.log] ?? [])
        try findPieces(crashed)
    }

    /// The record that may be lost with a byte: the record whose only copy of the byte this is.
    func loss(_ offset: Int, of file: String) -> RecordKey? {
        pieces.first { piece in
            guard piece.places.count == 1, let (only, range) = piece.places.first, only == file else { return false }
            guard file == Self.log else { return range.contains(offset) }
            let frame = (range.lowerBound - 32) / Self.frame * Self.frame + 32
            return range.contains(offset) || (frame..<(frame + 4)).contains(offset)
        }?.key
    }

    /// The undamaged records of a database of this length.
    func whole(upTo length: Int) -> Records {
        let lost = pieces.filter { piece in
            piece.places.allSatisfy { $0.file == Self.database && $0.range.upperBound > length }
        }
        return latest.filter { record in !lost.contains { $0.key == record.key } }
    }

    /// Whether the record has ever had this content.
    func isGenuine(_ record: StoredRecord) -> Bool { stages.contains { $0[record.key] == record } }

    private static func commitEnds(in log: [UInt8]) -> [Int] {
        stride(from: 32, to: log.count, by: frame)
            .filter { log[($0 + 4)..<($0 + 8)] != [0, 0, 0, 0] }
            .map { $0 + frame }
    }

    /// Finds the sealed bytes of every record in the files, those in overflow pages included.
    private mutating func findPieces(_ folder: StoreFolder) throws {
        let copy = try folder.copyWithoutClosing()
        let engine = try StoreEngine(copy.path, StoreOptions { 0 })
        let _: [StoredRecord] = try engine.load()
        guard let derived = engine.keys?.derived() else { return }
        try engine.database?.forEachBatch(of: 16) { batch in
            for sealed in batch.compactMap(\.self) {
                guard let key = sealed.open(derived)?.record?.key else { continue }
                pieces += pieces(of: sealed.envelope.bytes, key)
            }
        }
    }

    private func pieces(of bytes: [UInt8], _ key: RecordKey) -> [Piece] {
        var pieces: [Piece] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            var piece = Piece(key: key)
            var count = rest.count
            for (name, content) in files {
                for start in content.starts(of: rest.prefix(32)) {
                    count = zip(rest, content[start...]).prefix { $0 == $1 }.count
                    // Includes the number of the next overflow page.
                    piece.places.append((name, start..<(start + count + (count < rest.count ? 4 : 0))))
                }
            }
            pieces.append(piece)
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}

extension [UInt8] {
    /// The offsets of `pattern`.
    fileprivate func starts(of pattern: ArraySlice<UInt8>) -> [Int] {
        var (starts, data) = ([Int](), Data(self)[...])
        while let range = data.range(of: Data(pattern)) {
            starts.append(range.lowerBound)
            data = data[range.upperBound...]
        }
        return starts
    }
}
