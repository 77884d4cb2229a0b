/// The text of a configuration file that a program changes: what a person wrote in it, comments and order, is kept.
struct ConfigurationText {
    /// A line, and the end that it has in the file: `\n` or `\r\n`.
    private struct Line {
        var text: String
        let end: String
    }

    private var lines: [Line]
    /// The end of new lines, which is that of the first one.
    private let lineEnd: String

    /// - Throws: if the text is not a document, so that its lines cannot be told apart.
    init(_ bytes: [UInt8]) throws(TOMLError) {
        _ = try TOMLDocument(decoding: bytes)
        // Bytes, because a carriage return and a line feed are one character.
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { bytes in
            let hasReturn = bytes.last == UInt8(ascii: "\r")
            let text = String(decoding: hasReturn ? bytes.dropLast() : bytes, as: UTF8.self)
            return Line(text: text, end: hasReturn ? "\r\n" : "\n")
        }
        // What is behind the last end of a line is empty, or a line without an end.
        let rest = lines.removeLast()
        lineEnd = lines.first?.end ?? rest.end
        if !rest.text.isEmpty { lines.append(Line(text: rest.text, end: lineEnd)) }
        self.lines = lines
    }

    /// The bytes of the text; it ends with the end of a line.
    var bytes: [UInt8] { Array(lines.map { $0.text + $0.end }.joined().utf8) }

    /// Sets a key of a table, which is added at the end if there is none; nil removes the key, and leaves the comment behind it.
    mutating func set(_ key: String, to value: TOMLDocument.Value?, in names: [String]) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        guard let table = document.tables.first(where: { $0.names == names }) else {
            guard let value else { return }
            if let last = lines.last, !last.text.isEmpty { lines.append(line("")) }
            return lines += [
                line("[\(names.map(Self.key).joined(separator: "."))]"),
                line("\(Self.key(key)) = \(Self.text(of: value))"),
            ]
        }
        let entry = value.map { "\(Self.key(key)) = \(Self.text(of: $0))" }
        guard let old = table.entries.first(where: { $0.key == key }) else {
            if let entry { lines.insert(line(entry), at: table.lastLine) }
            return
        }
        let text = lines[old.line - 1].text
        var parser = TOMLLine(text, number: old.line)
        _ = try parser.content()
        let words = [entry, parser.comment.isEmpty ? nil : parser.comment].compactMap(\.self)
        guard !words.isEmpty else {
            lines.remove(at: old.line - 1)
            return
        }
        let indentation = text.prefix { $0 == " " || $0 == "\t" }
        lines[old.line - 1].text = "\(indentation)\(words.joined(separator: "  "))"
    }

    private func line(_ text: String) -> Line { Line(text: text, end: lineEnd) }

    /// Removes a table with its keys and the comments between them; has no effect if there is none.
    mutating func removeTable(_ names: [String]) throws(TOMLError) {
        let document = try TOMLDocument(decoding: bytes)
        guard let table = document.tables.first(where: { $0.names == names }) else { return }
        lines.removeSubrange(table.line - 1..<table.lastLine)
        // One blank line between what was above and below.
        let start = table.line - 1
        let isBlankAbove = start == 0 || lines[start - 1].text.isEmpty
        if start < lines.count, lines[start].text.isEmpty, isBlankAbove {
            lines.remove(at: start)
        } else if start == lines.count, start > 0, lines[start - 1].text.isEmpty {
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
