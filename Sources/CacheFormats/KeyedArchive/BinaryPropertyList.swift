internal import TokenModel

/// A binary property list (`bplist00`), read one object at a time and without recursion.
///
/// Every offset, count and length is checked against the length of the file before it is used.
struct BinaryPropertyList {
    /// An object. The objects that it contains are given by their indices.
    enum Object: Equatable {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001.
        case date(Double)
        case data(ArraySlice<UInt8>)
        case text(String)
        case uid(Int)
        case list([Int])
        case dictionary(keys: [Int], values: [Int])
    }

    /// The number of objects.
    let count: Int
    /// The index of the outermost object.
    let top: Int
    private let bytes: [UInt8]
    private let offsetTable: Int
    private let offsetSize: Int
    private let referenceSize: Int

    /// - Throws: `cacheBadFormat` (-51201) if `bytes` are not a binary property list.
    init(_ bytes: [UInt8]) throws(TokenError) {
        guard !bytes.starts(with: Array("<?xml".utf8)), !bytes.starts(with: Array("<plist".utf8)) else {
            throw TokenError(
                .cacheBadFormat,
                "an XML property list; make a binary one of it, with “plistutil -i FILE -o NEW” (Debian: libplist-utils), or on macOS "
                    + "with “plutil -convert binary1 FILE”")
        }
        guard bytes.starts(with: Array("bplist0".utf8)), bytes.count >= 8 + Self.trailerLength else {
            throw Self.error("it is no binary property list")
        }
        self.bytes = bytes
        let trailer = bytes.count - Self.trailerLength
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.index(bytes, at: trailer + 8, size: 8),
            let top = Self.index(bytes, at: trailer + 16, size: 8),
            let table = Self.index(bytes, at: trailer + 24, size: 8),
            // An index is at most the number of bytes, so that no product below can overflow.
            table <= trailer, count <= (trailer - table) / offsetSize, top < count
        else { throw Self.error("its trailer makes no sense") }
        self.count = count
        self.top = top
        self.offsetTable = table
    }

    /// Reads an object.
    ///
    /// - Throws: `cacheBadFormat` (-51201) if the object is not inside the file.
    func object(at index: Int) throws(TokenError) -> Object {
        guard index >= 0, index < count,
            let start = Self.index(bytes, at: offsetTable + index * offsetSize, size: offsetSize), start < offsetTable
        else { throw Self.error("an object lies outside it") }
        let (kind, detail) = (bytes[start] >> 4, Int(bytes[start] & 0xF))
        switch kind {
        case 0x0 where detail == 0: return .null
        case 0x0 where detail == 8 || detail == 9: return .bool(detail == 9)
        case 0x1: return .integer(Int64(bitPattern: try number(at: start + 1, size: 1 << detail)))
        case 0x2: return .real(try real(at: start + 1, size: 1 << detail))
        case 0x3: return .date(try real(at: start + 1, size: 8))
        case 0x8:
            guard let uid = Int(exactly: try number(at: start + 1, size: detail + 1)) else { throw Self.outside }
            return .uid(uid)
        default: return try collection(kind, detail, at: start)
        }
    }

    /// Reads an object with a length.
    private func collection(_ kind: UInt8, _ detail: Int, at start: Int) throws(TokenError) -> Object {
        let (length, body) = try length(detail, at: start)
        switch kind {
        case 0x4: return .data(try slice(body, length))
        case 0x5, 0x7:
            guard let text = String(validating: try slice(body, length), as: UTF8.self) else {
                throw Self.error("a text is ill-formed")
            }
            return .text(try Self.comparable(text))
        case 0x6: return .text(try Self.comparable(try utf16(try slice(body, length, each: 2))))
        case 0xA, 0xC: return .list(try references(body, length))
        case 0xD:
            let both = try slice(body, length, each: 2 * referenceSize)
            let values = both.startIndex + length * referenceSize
            return .dictionary(keys: try references(body, length), values: try references(values, length))
        default: throw Self.error("an object is of an unknown kind")
        }
    }

    /// The length of a collection, and where its content starts.
    private func length(_ detail: Int, at start: Int) throws(TokenError) -> (length: Int, body: Int) {
        guard detail == 0xF else { return (detail, start + 1) }
        let marker = try slice(start + 1, 1)[start + 1]
        guard marker >> 4 == 0x1, marker & 0xF <= 3 else { throw Self.outside }
        let size = 1 << Int(marker & 0xF)
        guard let length = Int(exactly: try number(at: start + 2, size: size)), length <= bytes.count else {
            throw Self.outside
        }
        return (length, start + 2 + size)
    }

    private func references(_ start: Int, _ count: Int) throws(TokenError) -> [Int] {
        let all = try slice(start, count, each: referenceSize)
        var references: [Int] = []
        references.reserveCapacity(count)
        for position in stride(from: all.startIndex, to: all.endIndex, by: referenceSize) {
            guard let reference = Self.index(bytes, at: position, size: referenceSize) else { throw Self.outside }
            references.append(reference)
        }
        return references
    }

    private static func comparable(_ text: String) throws(TokenError) -> String {
        guard !CombiningCharacters.areExcessive(in: text) else {
            throw error("a text has more than \(CombiningCharacters.longestRun) combining characters in a row")
        }
        return text
    }

    private func utf16(_ bytes: ArraySlice<UInt8>) throws(TokenError) -> String {
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        guard let text = String(validating: units, as: UTF16.self) else { throw Self.error("a text is ill-formed") }
        return text
    }

    private func real(at start: Int, size: Int) throws(TokenError) -> Double {
        let bits = try number(at: start, size: size)
        switch size {
        case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        case 8: return Double(bitPattern: bits)
        default: throw Self.error("a number is of an unknown size")
        }
    }

    /// A big-endian number; of a longer one than fits, the low 64 bits.
    private func number(at start: Int, size: Int) throws(TokenError) -> UInt64 {
        guard size <= 16 else { throw Self.error("a number is of an unknown size") }
        return try slice(start, size).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// `count` items of `each` bytes, before the table of offsets.
    private func slice(_ start: Int, _ count: Int, each: Int = 1) throws(TokenError) -> ArraySlice<UInt8> {
        guard start >= 0, start <= offsetTable, count <= (offsetTable - start) / each else { throw Self.outside }
        return bytes[start..<start + count * each]
    }

    /// A big-endian number that could be an index into `bytes`.
    private static func index(_ bytes: [UInt8], at start: Int, size: Int) -> Int? {
        guard start >= 0, start <= bytes.count - size else { return nil }
        let value = bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }

    private static func error(_ what: String) -> TokenError {
        TokenError(.cacheBadFormat, "not an ADAL archive: \(what)")
    }

    private static let outside = error("an object lies outside it")
    private static let trailerLength = 32
}
