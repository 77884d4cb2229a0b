internal import TokenModel

/// Reads JSON (RFC 8259) that may be anybody's: bounded in depth and in the number of values, and never trapping.
///
/// Two things that some of Microsoft's libraries write or read are let pass: a byte order mark, and a comma before a
/// closing bracket.
struct JSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var valuesLeft = Self.mostValues

    /// - Throws: `cacheBadFormat` (-51201) when `bytes` are not one JSON value, with the place.
    static func read(_ bytes: [UInt8]) throws(TokenError) -> JSONTree {
        var reader = JSONReader(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw reader.error("something follows the JSON value") }
        return value
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ what: String) -> TokenError {
        TokenError(.cacheBadFormat, "not a token cache in JSON: \(what) at byte \(position)")
    }

    private mutating func skipSpace() {
        position = bytes.withUnsafeBufferPointer { bytes in
            var index = position
            while index < bytes.count,
                bytes[index] == 0x20 || bytes[index] == 0x0A || bytes[index] == 0x0D
                    || bytes[index] == 0x09
            { index += 1 }
            return index
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(_ word: StaticString, _ value: JSONTree) throws(TokenError) -> JSONTree {
        let isThere = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        guard isThere else { throw error("an unknown word") }
        position += word.utf8CodeUnitCount
        return value
    }

    private mutating func value(depth: Int) throws(TokenError) -> JSONTree {
        skipSpace()
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw error("more than \(Self.mostValues) values") }
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth: depth + 1))
        case UInt8(ascii: "["): return .list(try list(depth: depth + 1))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try take("true", .bool(true))
        case UInt8(ascii: "f"): return try take("false", .bool(false))
        case UInt8(ascii: "n"): return try take("null", .null)
        case nil: throw error("the end")
        default: return .number(try number())
        }
    }

    private mutating func list(depth: Int) throws(TokenError) -> [JSONTree] {
        try open(depth)
        var values: [JSONTree] = []
        while true {
            skipSpace()
            if take(UInt8(ascii: "]")) { return values }
            values.append(try value(depth: depth))
            skipSpace()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "]") else { throw error("no comma in a list") }
        }
    }

    private mutating func members(depth: Int) throws(TokenError) -> [JSONTree.Member] {
        try open(depth)
        var members: [JSONTree.Member] = []
        while true {
            skipSpace()
            if take(UInt8(ascii: "}")) { return members }
            guard next == UInt8(ascii: "\"") else { throw error("no name of a member") }
            let name = try text()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("no colon after a name") }
            members.append(JSONTree.Member(name: name, value: try value(depth: depth)))
            skipSpace()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "}") else { throw error("no comma in an object") }
        }
    }

    private mutating func open(_ depth: Int) throws(TokenError) {
        guard depth <= Self.mostDepth else { throw error("nested deeper than \(Self.mostDepth)") }
        position += 1
    }

    /// Digits that are a number to whoever reads them again.
    private mutating func number() throws(TokenError) -> String {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(TokenError) {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw error("an unexpected character") }
    }

    private static let mostDepth = 64
    /// Ten thousand accounts take half a million.
    private static let mostValues = 2_000_000
}

extension JSONReader {
    /// A text, from its opening quote.
    private mutating func text() throws(TokenError) -> String {
        position += 1
        let start = position
        position = endOfPlainText
        var content = bytes[start..<position]
        while !take(UInt8(ascii: "\"")) {
            switch next {
            case nil: throw error("the end, within a text")
            case UInt8(ascii: "\\"):
                position += 1
                content += Array(String(try escape()).utf8)
            case .some(let byte) where byte < 0x20: throw error("a control character in a text")
            case .some(let byte):
                content.append(byte)
                position += 1
            }
        }
        guard let text = String(validating: content, as: UTF8.self) else { throw error("ill-formed UTF-8 before") }
        return text
    }

    /// The next byte with a meaning of its own in a text. Tokens are long, so this is where a reader spends its time.
    private var endOfPlainText: Int {
        bytes.withUnsafeBufferPointer { bytes in
            var index = position
            while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
                bytes[index] >= 0x20
            {
                index += 1
            }
            return index
        }
    }

    /// What an escape stands for, from behind its backslash.
    private mutating func escape() throws(TokenError) -> Unicode.Scalar {
        let kind = next
        position += 1
        switch kind {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error("an unknown escape")
        }
    }

    /// Half a surrogate pair stands for nothing and becomes the replacement character.
    private mutating func unicodeEscape() throws(TokenError) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        let saved = position
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            position = saved
            return "\u{FFFD}"
        }
        let second = try codeUnit()
        guard (0xDC00...0xDFFF).contains(second) else {
            position = saved
            return "\u{FFFD}"
        }
        let value = 0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(TokenError) -> UInt16 {
        guard bytes.count - position >= 4 else { throw error("the end, within an escape") }
        var unit: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error("a malformed escape") }
            unit = unit << 4 | UInt16(digit)
        }
        position += 4
        return unit
    }
}
