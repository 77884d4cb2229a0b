internal import Foundation
internal import PosixFiles
internal import TestSupport
internal import Testing

@Suite(.bounded) struct TerminalTextTests {
    @Test(arguments: [
        "", "plain\n\ttext", "zażółć 😀 👩‍💻 हिन्दी שלום", "a\\b \"c\"", "{\n  \"a\" : 1\n}\n",
    ])
    func keepsWhatTerminalsOnlyShow(text: String) {
        #expect(TerminalText.neutralised(text) == text)
    }

    @Test(arguments: [
        ("\u{1B}]0;title\u{7}", #"\u001B]0;title\u0007"#), ("\u{9B}2J", #"\u009B2J"#), ("a\rb", #"a\u000Db"#),
        ("a\u{7F}\u{8}b", #"a\u007F\u0008b"#), ("\u{202E}evil\u{202C}", #"\u202Eevil\u202C"#),
        ("\u{2066}a\u{2069}\u{61C}\u{200E}\u{200F}", #"\u2066a\u2069\u061C\u200E\u200F"#),
        ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#), ("\u{FEFF}a\u{E0041}", #"\uFEFFa\uDB40\uDC41"#),
    ])
    func writesWhatTerminalsObeyAsNumbers(text: String, shown: String) {
        #expect(TerminalText.neutralised(text) == shown)
    }

    /// A carriage return before a line feed forms one character with it.
    @Test(arguments: [("a\nb\tc", "a b c"), ("a\r\nb", #"a\u000D b"#), ("\u{D4E}\n\u{301}b", "\u{D4E} \u{301}b")])
    func writesATextOnOneLine(text: String, line: String) {
        #expect(TerminalText.line(text) == line)
    }

    @Test(arguments: [
        ("plain", 5), ("漢字", 4), ("e\u{301}", 1), ("\u{301}a", 1), ("हिन्दी", 5), ("か\u{3099}", 2),
        ("a\u{200B}b\u{2060}", 2), ("sh\u{AD}y", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2),
        ("1\u{FE0F}\u{20E3}", 2),
    ])
    func countsTheColumnsOfLettersAndNotOfMarks(text: String, columns: Int) {
        #expect(TerminalColumns.width(text) == columns)
    }

    /// A program that reads the document gets the same values.
    @Test func keepsTheValuesOfAJSONDocument() throws {
        let value = ["name": (0..<0x3000).compactMap { Unicode.Scalar($0).map(String.init) }.joined() + "\u{E0041}"]
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]
        let shown = TerminalText.neutralised(String(decoding: try encoder.encode(value), as: UTF8.self))
        #expect(try JSONDecoder().decode([String: String].self, from: Data(shown.utf8)) == value)
        #expect(!shown.unicodeScalars.contains { $0.properties.isBidiControl })
    }
}
