/// Reads JSON (RFC 8259) of any origin: linear in its length, bounded in depth and in the number of values, and without traps.
/// Its texts can be compared in linear time (`CombiningCharacters`).
///
/// A long text is read entry by entry: `eachMember` and `eachElement` give one at a time to their closure, which reads it with
/// `value` or passes over it with `skip`. Two deviations of Microsoft's libraries are accepted: a byte order mark, and a comma
/// before a closing bracket.
package struct JSONReader {
    var feed: ByteFeed
    /// The noun phrase for the text in error messages.
    private let document: String
    private let maximumValues: Int
    private var valuesLeft: Int
    private var depth = 0
    /// The position at which the value that is being read becomes too long to be kept.
    private(set) var end = Int.max

    /// Reads one JSON value.
    ///
    /// - Parameters:
    ///   - document: what the text should be, in words that follow "not".
    ///   - maximumValues: the maximum number of values, those in other values included.
    /// - Throws: `cacheBadFormat` (-51201) if `bytes` are not one JSON value, with the position.
    package static func read(
        _ bytes: [UInt8], as document: String = "JSON", maximumValues: Int = valuesOfFile
    ) throws(TokenError) -> JSONTree {
        var reader = JSONReader(ByteFeed(bytes), as: document, maximumValues: maximumValues)
        return try reader.onlyValue()
    }

    /// Reads one JSON value from a text with secrets, and wipes the copy of the text.
    package static func read(_ text: Secret, maximumValues: Int = valuesOfFile) throws(TokenError) -> JSONTree {
        var reader = JSONReader(ByteFeed { $0 == 0 ? text : nil }, maximumValues: maximumValues)
        defer { reader.feed.wipe() }
        return try reader.onlyValue()
    }

    private mutating func onlyValue() throws(TokenError) -> JSONTree {
        let value = try value()
        try finish()
        return value
    }

    package init(_ feed: ByteFeed, as document: String = "JSON", maximumValues: Int = valuesOfFile) {
        self.feed = feed
        self.document = document
        self.maximumValues = maximumValues
        valuesLeft = maximumValues
        for byte: UInt8 in [0xEF, 0xBB, 0xBF] where next == byte { self.feed.advance() }
    }

    /// - Throws: `cacheBadFormat` (-51201) if anything but white space follows the value.
    package mutating func finish() throws(TokenError) {
        skipSpace()
        guard next == nil else { throw error("something follows the JSON value") }
        feed.wipe()
    }

    /// The first byte of the next value, which identifies its kind; nil at the end.
    package mutating func kind() -> UInt8? {
        skipSpace()
        return next
    }

    /// Reads the next value.
    package mutating func value() throws(TokenError) -> JSONTree {
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
        case UInt8(ascii: "t"): return try consume("true", .bool(true))
        case UInt8(ascii: "f"): return try consume("false", .bool(false))
        case UInt8(ascii: "n"): return try consume("null", .null)
        case nil: throw error("the end")
        default: return .number(try number())
        }
    }

    /// Reads the next value; nil if it is longer than `limit` bytes, which are passed over.
    package mutating func value(limit: Int) throws(TokenError) -> JSONTree? {
        skipSpace()
        let outer = end
        end = min(end, feed.position + limit)
        let value = try value()
        let isTooLong = isTooLong
        end = outer
        return isTooLong ? nil : value
    }

    /// Passes over the next value, which must be well-formed.
    package mutating func skip() throws(TokenError) {
        let outer = end
        end = feed.position
        _ = try value()
        end = outer
    }

    /// Whether the value that is being read is too long to be kept.
    var isTooLong: Bool { feed.position > end }

    /// Reads an object, member by member. `body` must read or skip the member's value.
    package mutating func eachMember(_ body: (String, inout JSONReader) throws(TokenError) -> Void) throws(TokenError) {
        try eachMember(isCounted: false, body)
    }

    /// Reads a list, value by value. `body` must read or skip each.
    package mutating func eachElement(_ body: (inout JSONReader) throws(TokenError) -> Void) throws(TokenError) {
        try eachElement(isCounted: false, body)
    }

    private mutating func eachMember(
        isCounted: Bool, _ body: (String, inout JSONReader) throws(TokenError) -> Void
    ) throws(TokenError) {
        try open(UInt8(ascii: "{"), isCounted: isCounted)
        while true {
            skipSpace()
            if consume(UInt8(ascii: "}")) { break }
            guard next == UInt8(ascii: "\"") else { throw error("no name of a member") }
            let name = try readText()
            skipSpace()
            guard consume(UInt8(ascii: ":")) else { throw error("no colon after a name") }
            try body(name, &self)
            skipSpace()
            guard consume(UInt8(ascii: ",")) || next == UInt8(ascii: "}") else { throw error("no comma in an object") }
        }
        depth -= 1
    }

    private mutating func eachElement(
        isCounted: Bool, _ body: (inout JSONReader) throws(TokenError) -> Void
    ) throws(TokenError) {
        try open(UInt8(ascii: "["), isCounted: isCounted)
        while true {
            skipSpace()
            if consume(UInt8(ascii: "]")) { break }
            try body(&self)
            skipSpace()
            guard consume(UInt8(ascii: ",")) || next == UInt8(ascii: "]") else { throw error("no comma in a list") }
        }
        depth -= 1
    }

    private mutating func open(_ bracket: UInt8, isCounted: Bool) throws(TokenError) {
        if !isCounted { try countValue() }
        depth += 1
        guard depth <= Self.maximumDepth else { throw error("nested deeper than \(Self.maximumDepth)") }
        guard consume(bracket) else { throw error("an unexpected character") }
    }

    private mutating func countValue() throws(TokenError) {
        skipSpace()
        valuesLeft -= 1
        guard valuesLeft >= 0 else { throw error("more than \(maximumValues) values") }
    }

    /// The maximum depth. Responses have three levels, and files of other libraries four.
    package static let maximumDepth = 32
    /// The maximum number of values of a file. A cache of the maximum size has fewer if it holds tokens.
    package static let valuesOfFile = 16_000_000
    /// The maximum number of values of a response, an ID token or a claims request. The longest have a few hundred: discovery
    /// documents, and ID tokens with group claims.
    package static let valuesOfMessage = 16_384
}

extension JSONReader {
    var next: UInt8? { feed.next }

    func error(_ what: String) -> TokenError {
        TokenError(.cacheBadFormat, "not \(document): \(what) at byte \(feed.position)")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { feed.advance() }
    }

    mutating func consume(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        feed.advance()
        return true
    }

    private mutating func consume(_ word: String, _ value: JSONTree) throws(TokenError) -> JSONTree {
        for byte in word.utf8 {
            guard consume(byte) else { throw error("an unknown word") }
        }
        return value
    }

    /// Reads the digits of a number (RFC 8259 section 6).
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

/// Strings.
extension JSONReader {
    /// Reads a string, from its opening quote; returns an empty one if it is too long to be kept.
    mutating func readText() throws(TokenError) -> String {
        feed.advance()
        var content: [UInt8] = []
        while true {
            let (start, stop) = (feed.index, endOfPlainText)
            let isKept = feed.position + stop - start <= end
            if content.isEmpty, isKept, stop < feed.buffer.count, feed.buffer[stop] == UInt8(ascii: "\"") {
                // Nearly every string is in one part and without escapes.
                let text = try text(of: feed.buffer[start..<stop])
                feed.advance(to: stop + 1)
                return text
            }
            if isKept { content += feed.buffer[start..<stop] }
            if stop > start { feed.advance(to: stop) }
            switch next {
            case nil: throw error("the end, within a text")
            case UInt8(ascii: "\""):
                feed.advance()
                return isTooLong ? "" : try text(of: content[...])
            case UInt8(ascii: "\\"):
                feed.advance()
                try addEscape(to: &content)
            case .some(let byte) where byte < 0x20: throw error("a control character in a text")
            // The string continues in the next part.
            case .some: break
            }
        }
    }

    private func text(of bytes: ArraySlice<UInt8>) throws(TokenError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw error("ill-formed UTF-8 in the text") }
        guard !bytes.withUnsafeBufferPointer(CombiningCharacters.areExcessive) else {
            throw error("more than \(CombiningCharacters.longestRun) combining characters in a row in the text")
        }
        return text
    }

    /// The index of the next byte that is a quote, a backslash or a control character, or the buffer's end. Tokens are long: a
    /// reader spends most of its time here.
    private var endOfPlainText: Int {
        feed.buffer.withUnsafeBufferPointer { bytes in
            var index = feed.index
            while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
                bytes[index] >= 0x20
            {
                index += 1
            }
            return index
        }
    }

    /// Appends the character of an escape, read from behind its backslash.
    private mutating func addEscape(to content: inout [UInt8]) throws(TokenError) {
        let kind = next
        if kind != nil { feed.advance() }
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): add(Unicode.Scalar(kind ?? 0), to: &content)
        case UInt8(ascii: "b"): add("\u{8}", to: &content)
        case UInt8(ascii: "f"): add("\u{C}", to: &content)
        case UInt8(ascii: "n"): add("\n", to: &content)
        case UInt8(ascii: "r"): add("\r", to: &content)
        case UInt8(ascii: "t"): add("\t", to: &content)
        case UInt8(ascii: "u"): try addUnicodeEscape(to: &content)
        default: throw error("an unknown escape")
        }
    }

    /// Appends the character of a `\u` escape. Half a surrogate pair becomes the replacement character.
    private mutating func addUnicodeEscape(to content: inout [UInt8]) throws(TokenError) {
        var unit = try codeUnit()
        while true {
            if let scalar = Unicode.Scalar(unit) { return add(scalar, to: &content) }
            guard unit < 0xDC00, consume(UInt8(ascii: "\\")) else { return add("\u{FFFD}", to: &content) }
            guard consume(UInt8(ascii: "u")) else {
                add("\u{FFFD}", to: &content)
                return try addEscape(to: &content)
            }
            let second = try codeUnit()
            if (0xDC00...0xDFFF).contains(second) {
                let value = 0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(second - 0xDC00)
                return add(Unicode.Scalar(value) ?? "\u{FFFD}", to: &content)
            }
            add("\u{FFFD}", to: &content)
            unit = second
        }
    }

    private func add(_ scalar: Unicode.Scalar, to content: inout [UInt8]) {
        if !isTooLong { content += UTF8.encode(scalar).map(Array.init) ?? [] }
    }

    private mutating func codeUnit() throws(TokenError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next else { throw error("the end, within an escape") }
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error("a malformed escape") }
            unit = unit << 4 | UInt16(digit)
            feed.advance()
        }
        return unit
    }
}
