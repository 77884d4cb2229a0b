/// SQLite's log as bytes (https://www.sqlite.org/fileformat2.html#walformat).
///
/// SQLite stops reading at the first frame that does not check, and silently takes what lies behind it for the remains of
/// an earlier use. Reading it ourselves tells those remains from commits that a damaged frame hides.
struct WriteAheadLog {
    struct Frame {
        let page: Int
        /// The database's size in pages after the commit that this frame ends; 0 inside of one.
        let commits: Int
        let content: Range<Int>
        /// Whether it and all before it check.
        let isWhole: Bool
    }

    let bytes: [UInt8]
    /// Every frame of the log's latest use, damaged ones included.
    private(set) var frames: [Frame] = []
    /// How many of them SQLite sees: whole, and part of a finished commit.
    private(set) var visible = 0

    /// Whether commits may lie behind a frame that does not check, or in it. It may also be the remains of one that failed,
    /// which is older than what came after it.
    ///
    /// A frame that a crash cut off in the middle is the last one, and the file ends in it, or goes on with an earlier use.
    var hidesCommits: Bool {
        guard let broken = frames.firstIndex(where: { !$0.isWhole }) else { return false }
        let isAtEnd = frames[broken].content.upperBound + Self.frameHeader > bytes.count
        return frames[(isAtEnd ? broken : broken + 1)...].contains { $0.commits > 0 }
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count > Self.header + Self.frameHeader else { return }
        let magic = word(0)
        var sums = Checksum(isBigEndian: magic & 1 == 1)
        sums.add(bytes[0..<24])
        let isHeaderWhole =
            magic & ~1 == 0x377f_0682 && word(8) == Self.pageSize && sums.matches(word(24), word(28))
        // A damaged header leaves the salt of its frames.
        let salt = isHeaderWhole ? bytes[16..<24] : bytes[(Self.header + 8)..<(Self.header + 16)]
        var isChainWhole = isHeaderWhole
        var start = Self.header
        // A frame that is cut off is how any crash may leave the log.
        while start + Self.frameHeader + Int(Self.pageSize) <= bytes.count {
            let content = (start + Self.frameHeader)..<(start + Self.frameHeader + Int(Self.pageSize))
            defer { start += Self.frameHeader + Int(Self.pageSize) }
            let found = bytes[(start + 8)..<(start + 16)]
            if isChainWhole {
                sums.add(bytes[start..<(start + 8)])
                sums.add(bytes[content])
                isChainWhole = found.elementsEqual(salt) && sums.matches(word(start + 16), word(start + 20))
            }
            // An earlier use of the log had another salt in both words; damage rarely hits both.
            let isOurs = found.prefix(4).elementsEqual(salt.prefix(4)) || found.suffix(4).elementsEqual(salt.suffix(4))
            guard isOurs else { continue }
            frames.append(
                Frame(
                    page: Int(word(start)), commits: Int(word(start + 4)), content: content, isWhole: isChainWhole))
            if isChainWhole, word(start + 4) > 0 { visible = frames.count }
        }
    }

    private func word(_ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static let header = 32
    private static let frameHeader = 24
    /// What the store's databases have.
    private static let pageSize: UInt32 = 4096

    /// The running sum over pairs of words.
    private struct Checksum {
        let isBigEndian: Bool
        var first: UInt32 = 0
        var second: UInt32 = 0

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

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
