/// The frames of SQLite's write-ahead log (https://www.sqlite.org/fileformat2.html#walformat).
///
/// SQLite stops at the first frame whose checksum is wrong, and takes the frames after it for those of an earlier use of
/// the log. This reader distinguishes them from commits that a damaged frame hides.
struct WriteAheadLog {
    struct Frame {
        let page: Int
        /// The size of the database in pages after the commit that ends with this frame; 0 if none ends with it.
        let sizeAfterCommit: Int
        let content: Range<Int>
        /// Whether the checksums of this frame and of all before it are right.
        let isWhole: Bool
    }

    let bytes: [UInt8]
    /// Every frame of the latest use of the log, damaged ones included.
    private(set) var frames: [Frame] = []
    /// The number of frames that SQLite uses: undamaged, and part of a complete commit.
    private(set) var visible = 0

    /// Whether there may be commits in or after a damaged frame. They may also be the rest of a failed commit, which is
    /// older than the commits after it.
    ///
    /// A frame that a crash truncated is the last one: the file ends in it, or continues with frames of an earlier use.
    var hidesCommits: Bool {
        guard let broken = frames.firstIndex(where: { !$0.isWhole }) else { return false }
        let isAtEnd = frames[broken].content.upperBound + Self.frameHeader > bytes.count
        return frames[(isAtEnd ? broken : broken + 1)...].contains { $0.sizeAfterCommit > 0 }
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count > Self.header + Self.frameHeader else { return }
        let magic = word(0)
        var sums = Checksum(isBigEndian: magic & 1 == 1)
        sums.add(bytes[0..<24])
        let isHeaderWhole =
            magic & ~1 == 0x377f_0682 && Int(word(8)) == StoreDatabase.pageSize && sums.matches(word(24), word(28))
        // If the header is damaged, the salt is that of the first frame that is not: a disk loses whole blocks.
        let first = firstPossibleFrame
        let salt = isHeaderWhole ? bytes[16..<24] : bytes[(first + 8)..<(first + 16)]
        var isChainWhole = isHeaderWhole
        var start = Self.header
        // Any crash may leave a truncated frame.
        while start + Self.frameHeader + StoreDatabase.pageSize <= bytes.count {
            let content = (start + Self.frameHeader)..<(start + Self.frameHeader + StoreDatabase.pageSize)
            defer { start += Self.frameHeader + StoreDatabase.pageSize }
            let found = bytes[(start + 8)..<(start + 16)]
            if isChainWhole {
                sums.add(bytes[start..<(start + 8)])
                sums.add(bytes[content])
                isChainWhole = found.elementsEqual(salt) && sums.matches(word(start + 16), word(start + 20))
            }
            // Frames of an earlier use differ in both words of the salt; damage rarely changes both.
            let isOurs = found.prefix(4).elementsEqual(salt.prefix(4)) || found.suffix(4).elementsEqual(salt.suffix(4))
            guard isOurs else { continue }
            frames.append(
                Frame(
                    page: Int(word(start)), sizeAfterCommit: Int(word(start + 4)), content: content,
                    isWhole: isChainWhole))
            if isChainWhole, word(start + 4) > 0 { visible = frames.count }
        }
    }

    /// The start of the first frame with the number of a page; that of the first one if none has.
    private var firstPossibleFrame: Int {
        let frame = Self.frameHeader + StoreDatabase.pageSize
        return stride(from: Self.header, through: bytes.count - frame, by: frame).first {
            1...Self.lastPage ~= Int(word($0))
        } ?? Self.header
    }

    private func word(_ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].number()
    }

    private static let header = 32
    private static let frameHeader = 24
    private static let lastPage = StorePaths.sizeLimit / StoreDatabase.pageSize

    /// The cumulative checksum over pairs of words.
    private struct Checksum {
        let isBigEndian: Bool
        var first: UInt32 = 0
        var second: UInt32 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count % 8 == 0 else { return }
            bytes.withUnsafeBytes { raw in
                for offset in stride(from: 0, to: raw.count, by: 8) {
                    first &+= order(raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) &+ second
                    second &+= order(raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)) &+ first
                }
            }
        }

        func matches(_ one: UInt32, _ two: UInt32) -> Bool { first == one && second == two }

        private func order(_ word: UInt32) -> UInt32 {
            isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }
    }
}
