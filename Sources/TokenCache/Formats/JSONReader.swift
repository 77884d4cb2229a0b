internal import TokenModel

/// Reads JSON (RFC 8259) that may be anybody's: bounded in depth and in the number of values, and never trapping.
///
/// A long file is read entry by entry: `eachMember` and `eachElement` hand out one at a time, to be read with `value` or
/// passed over with `skip`. Two things that some of Microsoft's libraries write or read are let pass: a byte order mark, and a
/// comma before a closing bracket.
struct JSONReader {
    var feed: ByteFeed
    private var valuesLeft = Self.mostValues
    private var depth = 0
    /// Where what is being read becomes too long to be kept.
    private(set) var end = Int.max

    /// - Throws: `cacheBadFormat` (-51201) when `bytes` are not one JSON value, with the place.
    static func read(_ bytes: [UInt8]) throws(TokenError) -> JSONTree {
        var reader = JSONReader(ByteFeed(bytes))
        let value = try reader.value()
        try reader.finish()
        return value
    }

    init(_ feed: ByteFeed) {
        self.feed = feed
        for byte: UInt8 in [0xEF, 0xBB, 0xBF] where next == byte { self.feed.advance() }
    }

    /// - Throws: `cacheBadFormat` (-51201) when something other than white space follows.
    mutating func finish() throws(TokenError) {
        skipSpace()
        guard next == nil else { throw error("something follows the JSON value") }
        feed.wipe()
    }

    /// The first byte of the next value, which tells its kind; nil at the end.
    mutating func kind() -> UInt8? {
        skipSpace()
        return next
    }

    /// Reads the next value.
    mutating func value() throws(TokenError) -> JSONTree {
        try countValue()
        switch next {
        case UInt8(ascii: "{"):
            var members: [JSONTree.Member] = []
            try eachMember(isCounted: true) { name, reader throws(TokenError) in
                let value = try reader.value()
                if !reader.isTooLong { members.append(JSONTree.Member(name: name, value: value)) }
            }
            return .object(members)
        case UInt8(ascii: "["):
            var values: [JSONTree] = []
            try eachElement(isCounted: true) { reader throws(TokenError) in
                let value = try reader.value()
                if !reader.isTooLong { values.append(value) }
            }
            return .list(values)
        case UInt8(ascii: "\""): return .text(try readText())
        case UInt8(ascii: "t"): return try take("true", .bool(true))
        case UInt8(ascii: "f"): return try take("false", .bool(false))
        case UInt8(ascii: "n"): return try take("null", .null)
        case nil: throw error("the end")
        default: return .number(try number())
        }
    }

    /// Reads the next value; nil when it is longer than `limit` bytes, and then it has been passed over.
    mutating func value(limit: Int) throws(TokenError) -> JSONTree? {
        skipSpace()
        let outer = end
        end = min(end, feed.position + limit)
        let value = try value()
        let isTooLong = isTooLong
        end = outer
        return isTooLong ? nil : value
    }

    /// Passes over the next value, which has to be well-formed all the same.
    mutating func skip() throws(TokenError) {
        let outer = end
        end = feed.position
        _ = try value()
        end = outer
    }

    /// Whether what is being read is longer than what is kept.
    var isTooLong: Bool { feed.position > end }

    /// Reads an object, member by member. `body` has to read or skip the member's value.
    mutating func eachMember(
        _ body: (String, inout JSONReader) throws(TokenError) -> Void
    ) throws(TokenError) {
        try eachMember(isCounted: false, body)
    }

    /// Reads a list, value by value. `body` has to read or skip each.
    mutating func eachElement(_ body: (inout JSONReader) throws(TokenError) -> Void) throws(TokenError) {
        try eachElement(isCounted: false, body)
    }

    private mutating func eachMember(
        isCounted: Bool, _ body: (String, inout JSONReader) throws(TokenError) -> Void
    ) throws(TokenError) {
        try open(UInt8(ascii: "{"), isCounted: isCounted)
        while true {
            skipSpace()
            if take(UInt8(ascii: "}")) { break }
            guard next == UInt8(ascii: "\"") else { throw error("no name of a member") }
            let name = try readText()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("no colon after a name") }
            try body(name, &self)
            skipSpace()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "}") else { throw error("no comma in an object") }
        }
        depth -= 1
    }

    private mutating func eachElement(
        isCounted: Bool, _ body: (inout JSONReader) throws(TokenError) -> Void
    ) throws(TokenError) {
        try open(UInt8(ascii: "["), isCounted: isCounted)
        while true {
            skipSpace()
            if take(UInt8(ascii: "]")) { break }
            try body(&self)
            skipSpace()
            guard take(UInt8(ascii: ",")) || next == UInt8(ascii: "]") else { throw error("no comma in a list") }
        }
        depth -= 1
    }

    private mutating func open(_ bracket: UInt8, isCounted: Bool) throws(TokenError) {
        if !isCounted { try countValue() }
        depth += 1
        guard depth <= Self.mostDepth else { throw error("nested deeper than \(Self.mostDepth)") }
        guard take(bracket) else { throw error("an unexpected character") }
    }

    private mutating func countValue() throws(TokenError) {
        skipSpace()
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw error("more than \(Self.mostValues) values") }
    }

    private static let mostDepth = 64
    /// More than the longest file that comes in has, if it holds tokens.
    private static let mostValues = 16_000_000
}

extension JSONReader {
    var next: UInt8? { feed.next }

    func error(_ what: String) -> TokenError {
        TokenError(.cacheBadFormat, "not a token cache in JSON: \(what) at byte \(feed.position)")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { feed.advance() }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        feed.advance()
        return true
    }

    private mutating func take(_ word: String, _ value: JSONTree) throws(TokenError) -> JSONTree {
        for byte in word.utf8 {
            guard take(byte) else { throw error("an unknown word") }
        }
        return value
    }

    /// Digits that are a number to whoever reads them again.
    private mutating func number() throws(TokenError) -> String {
        var digits = ""
        if next == UInt8(ascii: "-") { add(to: &digits) }
        if next == UInt8(ascii: "0") { add(to: &digits) } else { try addDigits(&digits) }
        if next == UInt8(ascii: ".") {
            add(to: &digits)
            try addDigits(&digits)
        }
        if let exponent = next, exponent | 0x20 == UInt8(ascii: "e") {
            add(to: &digits)
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { add(to: &digits) }
            try addDigits(&digits)
        }
        return digits
    }

    private mutating func addDigits(_ digits: inout String) throws(TokenError) {
        let start = feed.position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { add(to: &digits) }
        guard feed.position > start else { throw error("an unexpected character") }
    }

    private mutating func add(to digits: inout String) {
        if let byte = next, !isTooLong { digits.unicodeScalars.append(Unicode.Scalar(byte)) }
        feed.advance()
    }
}
