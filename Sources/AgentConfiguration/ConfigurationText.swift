/// The text of a configuration file that a program changes: what a person wrote in it, comments and order, is kept.
struct ConfigurationText {
    private var lines: [String]
    private let lineEnd: String

    /// - Throws: if the text is not a document, so that its lines cannot be told apart.
    init(_ bytes: [UInt8]) throws(TOMLError) {
        _ = try TOMLDocument(decoding: bytes)
        // Bytes, because a carriage return and a line feed are one character.
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self) }
        lineEnd = bytes.contains(UInt8(ascii: "\r")) ? "\r\n" : "\n"
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
    }

    /// The bytes of the text; it ends with the end of a line.
    var bytes: [UInt8] { Array(lines.map { $0 + lineEnd }.joined().utf8) }

    /// Sets a key of a table, which is added at the end if there is none; nil removes the key.
    mutating func set(_ key: String, to value: TOMLDocument.Value?, in names: [String]) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        guard let table = document.tables.first(where: { $0.names == names }) else {
            guard let value else { return }
            if let last = lines.last, !last.isEmpty { lines.append("") }
            return lines += [
                "[\(names.map(Self.key).joined(separator: "."))]", "\(Self.key(key)) = \(Self.text(of: value))",
            ]
        }
        let old = table.entries.first { $0.key == key }
        guard let value else {
            if let old { lines.remove(at: old.line - 1) }
            return
        }
        let line = "\(Self.key(key)) = \(Self.text(of: value))"
        if let old {
            var parser = TOMLLine(lines[old.line - 1], number: old.line)
            _ = try parser.content()
            lines[old.line - 1] = parser.comment.isEmpty ? line : "\(line)  \(parser.comment)"
        } else {
            lines.insert(line, at: table.lastLine)
        }
    }

    /// Removes a table with its keys and the comments between them; has no effect if there is none.
    mutating func removeTable(_ names: [String]) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        guard let table = document.tables.first(where: { $0.names == names }) else { return }
        lines.removeSubrange(table.line - 1..<table.lastLine)
        // One blank line between what was above and below.
        let start = table.line - 1
        let isBlankAbove = start == 0 || lines[start - 1].isEmpty
        if start < lines.count, lines[start].isEmpty, isBlankAbove {
            lines.remove(at: start)
        } else if start == lines.count, start > 0, lines[start - 1].isEmpty {
            lines.removeLast()
        }
    }

    private static func text(of value: TOMLDocument.Value) -> String {
        switch value {
        case .text(let text): quoted(text)
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .texts(let texts): "[\(texts.map(quoted).joined(separator: ", "))]"
        }
    }

    /// A key, or a name of a table, as it is written: between quotation marks if it needs them.
    static func key(_ key: String) -> String {
        !key.contains(".") && ConfiguredApp.isName(key) ? key : quoted(key)
    }

    /// A basic string, with escapes for what it may not have.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension TOMLDocument.Table {
    /// The number of the last line that belongs to the table: its last key, or its name.
    fileprivate var lastLine: Int { entries.last?.line ?? line }
}
