/// A parser for one line of a TOML document.
struct TOMLLine {
    enum Content: Equatable {
        /// A blank line or a comment.
        case nothing
        /// The names of a table: one, or two as in `[apps.graph]`.
        case table([String])
        /// An element of an array of tables.
        case element(String)
        case entry(String, TOMLDocument.Value)
    }

    private let number: Int
    private var rest: Substring.UnicodeScalarView

    init(_ text: String, number: Int) {
        self.number = number
        rest = text[...].unicodeScalars
    }

    mutating func content() throws(TOMLError) -> Content {
        // TOML 1.0 allows no control character but the tab, not even in a comment.
        if let control = rest.first(where: { ($0.value < 0x20 && $0 != "\t") || $0.value == 0x7F }) {
            throw error("the control character \(Self.name(of: control)) is not allowed; remove it")
        }
        skipBlanks()
        let content: Content
        switch rest.first {
        case nil, "#": return .nothing
        case "[":
            rest.removeFirst()
            let isElement = rest.first == "["
            if isElement { rest.removeFirst() }
            let names = isElement ? [try key()] : try tableNames()
            guard skip("]"), !isElement || rest.popFirst() == "]" else {
                throw error("the “]” of the table's name is missing; write it as in [network] or [[rule]]")
            }
            content = isElement ? .element(names[0]) : .table(names)
        default:
            let key = try key()
            guard skip("=") else { throw error("there is no “=” after “\(key)”; write it as in proxy = \"…\"") }
            skipBlanks()
            content = .entry(key, try value(of: key))
        }
        skipBlanks()
        guard rest.isEmpty || rest.first == "#" else {
            throw error("“\(text(rest))” is left over at the end of the line; remove it, or make it a comment with “#”")
        }
        return content
    }

    /// The comment at the end of the line, from its “#” on; empty if there is none. Valid after ``content()``.
    var comment: String { text(rest) }

    /// Parses the name of a table, or the names of a table and of one in it, with a dot between them.
    private mutating func tableNames() throws(TOMLError) -> [String] {
        let first = try name()
        guard skip(".") else { return [first] }
        let second = try name()
        guard rest.first != "." else {
            throw error(
                "the table has more than two names; write a name with a dot between quotation marks, as in "
                    + "[apps.\"contoso.notes\"]")
        }
        return [first, second]
    }

    /// Parses a bare or a quoted key, with the blanks around it, which no dot may follow.
    private mutating func key() throws(TOMLError) -> String {
        let key = try name()
        guard rest.first != "." else {
            throw error("dotted names are not supported; write a [table] line and the key below it")
        }
        return key
    }

    private mutating func name() throws(TOMLError) -> String {
        skipBlanks()
        let key: String
        switch rest.first {
        case "\"": key = try basicString()
        case "'": key = try literalString()
        default:
            key = text(rest.prefix(while: Self.isBare))
            rest = rest.dropFirst(key.unicodeScalars.count)
            guard !key.isEmpty else {
                throw error("a name is missing; names have the letters A to Z, digits, “_” and “-”")
            }
        }
        skipBlanks()
        return key
    }

    private mutating func value(of key: String) throws(TOMLError) -> TOMLDocument.Value {
        switch rest.first {
        case "\"": return .text(try basicString())
        case "'": return .text(try literalString())
        case nil, "#": throw error("the value of “\(key)” is missing; write it as in \(key) = \"…\"")
        case "[": return .texts(try texts(of: key))
        case "{":
            throw error("inline tables are not supported; give “\(key)” a string, an array of strings, true or false")
        default: return try bareValue(of: key)
        }
    }

    /// Parses an array of strings on one line.
    private mutating func texts(of key: String) throws(TOMLError) -> [String] {
        rest.removeFirst()
        var texts: [String] = []
        while !skip("]") {
            switch rest.first {
            case "\"": texts.append(try basicString())
            case "'": texts.append(try literalString())
            default:
                throw error("an array has strings only, on one line; write it as in \(key) = [\"…\", \"…\"]")
            }
            if !skip(",") {
                guard skip("]") else {
                    throw error("a comma or the “]” of the array is missing; write it as in \(key) = [\"…\", \"…\"]")
                }
                return texts
            }
        }
        return texts
    }

    /// Parses an integer or a Boolean.
    private mutating func bareValue(of key: String) throws(TOMLError) -> TOMLDocument.Value {
        let word = text(rest.prefix { $0 != " " && $0 != "\t" && $0 != "#" })
        rest = rest.dropFirst(word.unicodeScalars.count)
        if word == "true" { return .boolean(true) }
        if word == "false" { return .boolean(false) }
        let digits = word.drop { $0 == "-" || $0 == "+" }
        let isDecimal = digits.utf8.allSatisfy { UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") }
        guard isDecimal, word.count - digits.count <= 1, digits == "0" || digits.first != "0", let number = Int64(word)
        else {
            guard !["true", "false"].contains(word.lowercased()) else {
                throw error("“\(word)” is not a Boolean; write \(word.lowercased()), in small letters")
            }
            throw error(
                "“\(word)” is neither a decimal integer nor a Boolean; write true or false, or put a string between quotation "
                    + "marks, as in \(key) = \"\(word)\"")
        }
        return .integer(number)
    }

    /// Parses a basic string: `"…"` with escapes.
    private mutating func basicString() throws(TOMLError) -> String {
        try refuseMultiline("\"\"\"")
        rest.removeFirst()
        var characters = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(characters)
            case "\\": characters.append(try escape())
            default: characters.append(scalar)
            }
        }
        throw error("the closing quotation mark is missing; add it at the end of the string")
    }

    /// Parses a literal string: `'…'` without escapes.
    private mutating func literalString() throws(TOMLError) -> String {
        try refuseMultiline("'''")
        rest.removeFirst()
        guard let end = rest.firstIndex(of: "'") else {
            throw error("the closing apostrophe is missing; add it at the end of the string")
        }
        defer { rest = rest[rest.index(after: end)...] }
        return text(rest[..<end])
    }

    private func refuseMultiline(_ mark: String) throws(TOMLError) {
        guard !rest.starts(with: mark.unicodeScalars) else {
            throw error("strings of several lines are not supported; write the string on one line between single marks")
        }
    }

    /// Parses the rest of an escape, after the backslash.
    private mutating func escape() throws(TOMLError) -> Unicode.Scalar {
        let scalar = rest.popFirst()
        switch scalar {
        case "b": return "\u{8}"
        case "t": return "\t"
        case "n": return "\n"
        case "f": return "\u{C}"
        case "r": return "\r"
        case "\"": return "\""
        case "\\": return "\\"
        case "u": return try codePoint(digits: 4)
        case "U": return try codePoint(digits: 8)
        default:
            throw error(
                "“\\\(scalar.map { String($0) } ?? "")” is not an escape; write “\\\\” for a backslash, or use '…'")
        }
    }

    private mutating func codePoint(digits: Int) throws(TOMLError) -> Unicode.Scalar {
        let word = text(rest.prefix(digits))
        guard word.utf8.count == digits, word.allSatisfy(\.isHexDigit), let value = UInt32(word, radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw error("“\(word)” is not the number of a character; write \(digits) hexadecimal digits") }
        rest = rest.dropFirst(digits)
        return scalar
    }

    /// Skips blanks and the expected character; returns false if the next character is another one.
    private mutating func skip(_ expected: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard rest.first == expected else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\t" } }

    private func text(_ scalars: Substring.UnicodeScalarView) -> String { String(Substring(scalars)) }

    private func error(_ reason: String) -> TOMLError { TOMLError(number, reason) }

    private static func isBare(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
