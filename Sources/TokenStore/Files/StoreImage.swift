/// The pages of the store's files, read without SQLite: for files that SQLite refuses or cannot write.
///
/// An envelope starts with a mark and its length and is authenticated by itself, so that every complete one can be found in
/// the pages.
struct StoreImage {
    private let database: [UInt8]
    private let log: WriteAheadLog
    /// The range in the log of the latest version of each page.
    private var later: [Int: Range<Int>] = [:]
    private var size: Int { database.count + log.bytes.count }

    /// - Parameter all: whether to include the frames of the log that SQLite ignores.
    init(database: [UInt8], log: WriteAheadLog, all: Bool) {
        self.database = database
        self.log = log
        for frame in all ? log.frames[...] : log.frames.prefix(log.visible) { later[frame.page] = frame.content }
    }

    /// Everything in the pages that looks like an envelope.
    ///
    /// Envelopes do not overlap, apart from the rests of deleted ones. In a file that was made for it, each byte could begin one
    /// that has all pages, or all but the last: no more bytes are read than four times those of the files.
    func envelopes() -> [Envelope] {
        var found: [Envelope] = []
        var budget = 4 * size
        let last = (database.count + Self.pageSize - 1) / Self.pageSize
        for page in Set(1...max(last, 1)).union(later.keys).sorted() {
            let content = self.page(page)
            for start in Self.marks(in: content) {
                let bytes = bytes(of: content, at: start, &budget)
                guard budget >= 0 else { return found }
                if let bytes, let envelope = Envelope(bytes) { found.append(envelope) }
            }
        }
        return found
    }

    private func page(_ number: Int) -> ArraySlice<UInt8> {
        if let range = later[number] { return log.bytes[range] }
        let start = (number - 1) * Self.pageSize
        guard number > 0, number <= database.count / Self.pageSize + 1, start < database.count else { return [] }
        return database[start..<min(start + Self.pageSize, database.count)]
    }

    private static func marks(in page: ArraySlice<UInt8>) -> [Int] {
        page.withUnsafeBytes { raw in
            var marks: [Int] = []
            var offset = 0
            while offset + Envelope.prefixCount <= raw.count {
                if Envelope.mayBegin(in: raw, at: offset) { marks.append(page.startIndex + offset) }
                offset += 1
            }
            return marks
        }
    }

    /// The bytes of the envelope that starts at an index of a page. SQLite stores the end of a long one in a chain of
    /// overflow pages (https://www.sqlite.org/fileformat2.html#cellformat).
    ///
    /// - Parameter budget: the number of bytes that may be read, from which those are subtracted that are, also if the result is nil.
    ///   Nothing is returned once it is below 0.
    private func bytes(of page: ArraySlice<UInt8>, at start: Int, _ budget: inout Int) -> [UInt8]? {
        guard let length = Envelope.length(of: page[start...]), length <= size else { return nil }
        // The header of the row precedes the envelope: its size, a NULL for the row number, and the type of the blob.
        let header = 2 + Self.variableLength(of: 12 + 2 * length)
        let payload = header + length
        guard payload > Self.pageSize - 35 else {
            guard start + length <= page.endIndex else { return nil }
            budget -= length
            return Array(page[start..<(start + length)])
        }
        let least = (Self.pageSize - 12) * 32 / 255 - 23
        let spread = least + (payload - least) % (Self.pageSize - 4)
        let local = (spread <= Self.pageSize - 35 ? spread : least) - header
        guard local > 0, start + local + 4 <= page.endIndex else { return nil }
        var bytes = Array(page[start..<(start + local)])
        budget -= local
        var next: Int = page[(start + local)...].prefix(4).number()
        while bytes.count < length, budget >= 0 {
            let overflow = self.page(next)
            // The last page of a truncated file may still have all bytes that are needed.
            guard overflow.count >= 4 + min(length - bytes.count, Self.pageSize - 4) else { return nil }
            bytes += overflow.dropFirst(4).prefix(length - bytes.count)
            budget -= overflow.count
            next = overflow.prefix(4).number()
        }
        return bytes.count == length ? bytes : nil
    }

    private static func variableLength(of number: Int) -> Int {
        number < 1 << 7 ? 1 : number < 1 << 14 ? 2 : number < 1 << 21 ? 3 : 4
    }

    private static var pageSize: Int { StoreDatabase.pageSize }
}
