internal import TestSupport
internal import Testing

@testable internal import AgentConfiguration

@Suite(.bounded) struct TOMLDocumentTests {
    typealias Value = TOMLDocument.Value

    @Test(
        arguments: [
            (#"k = "v""#, .text("v")), ("k='v'", .text("v")), ("  k\t=\t'v'  # comment", .text("v")),
            (#"k = """#, .text("")), ("k = ''", .text("")), (#"k = "a # b""#, .text("a # b")),
            (#"k = "a\"\\\t\n\r\b\f""#, .text("a\"\\\t\n\r\u{8}\u{C}")), (#"k = "\u00fc\U0001F511""#, .text("ü🔑")),
            (#"k = 'C:\new "x"'"#, .text(#"C:\new "x""#)), (#"k = "ü🔑""#, .text("ü🔑")), (#""k" = "v""#, .text("v")),
            ("'k' = 1", .integer(1)), ("k = -9223372036854775808", .integer(.min)), ("k = +7", .integer(7)),
            ("k = 0", .integer(0)), ("k = true", .boolean(true)), ("k = false# x", .boolean(false)),
            ("k = []", .texts([])), (#"k = [ "a" , 'b', ] # x"#, .texts(["a", "b"])), ("k=['a,]']", .texts(["a,]"])),
        ] as [(String, Value)])
    func readsAValue(line: String, value: Value) throws {
        let document = try TOMLDocument(decoding: line.utf8)
        #expect(document.entries.map(\.value) == [value])
        #expect(document.entries.map(\.key) == ["k"])
    }

    @Test(arguments: ["\n", "\r\n"])
    func readsTablesCommentsAndBlankLines(lineEnd: String) throws {
        let lines = ["\u{FEFF}# first", "a = 1", "", "[ t ] # a table", "  b = 2", "['x y']", "a = 3", "[-_9]", "\t"]
        let document = try TOMLDocument(decoding: lines.joined(separator: lineEnd).utf8)
        #expect(
            document.entries == [
                .init(line: 2, table: "", key: "a", value: .integer(1)),
                .init(line: 5, table: "t", key: "b", value: .integer(2)),
                .init(line: 7, table: "x y", key: "a", value: .integer(3)),
            ])
    }

    @Test(arguments: ["", "\n", "# only a comment", "\u{FEFF}", "[t]"])
    func readsAFileWithoutEntries(text: String) throws {
        #expect(try TOMLDocument(decoding: text.utf8).entries.isEmpty)
    }

    /// The arguments: the second line of a document, which has the error, and a part of the remedy.
    @Test(
        arguments: [
            ("k", "write it as in"), ("k =", "write it as in k"), ("k = # v", "write it as in k"),
            ("= 1", "letters A to Z"),
            ("k = v", #"k = "v""#), ("k = 01", "quotation marks"), ("k = 1_000", "quotation marks"),
            ("k = 0x1F", "quotation marks"), ("k = 1.5", "quotation marks"),
            ("k = 9223372036854775808", "quotation marks"),
            ("k = --1", "quotation marks"), ("k = 2026-01-01", "quotation marks"), ("k = inf", "quotation marks"),
            ("k = yes", "write true or false"), ("k = TRUE", "write true, in small letters"),
            ("k = False", "write false, in small"),
            (#"k = "v"#, "closing quotation mark"), ("k = 'v", "closing apostrophe"),
            (#"k = "v\""#, "closing quotation mark"), (#"k = "\x""#, "backslash"), (#"k = "\u12""#, "4 hexadecimal"),
            (#"k = "\u+041""#, "4 hexadecimal"),
            (#"k = "\uD800""#, "4 hexadecimal"), (#"k = "\U00110000""#, "8 hexadecimal"), (#"k = "\"#, "backslash"),
            (#"k = """v""""#, "one line"), ("k = '''v'''", "one line"), ("k = [1]", "strings only"),
            ("k = ['a' 'b']", "comma"), ("k = ['a'", "comma"), ("k = [", "strings only"),
            ("k = [['a']]", "strings only"),
            ("k = {}", "a string, an array"), ("k.l = 1", "[table]"), ("[a.b.c]", "[apps.\"contoso.notes\"]"),
            ("[[a]", "[[rule]]"),
            ("[[a] ]", "[[rule]]"), ("[[]]", "letters A to Z"),
            ("[a", "[network]"), ("[]", "letters A to Z"), ("[a] b", "remove it"), ("k = 1 2", "remove it"),
            (#"k = "v" "w""#, "remove it"), ("ü = 1", "letters A to Z"), ("j = 2", "remove one of the two"),
            ("k = 'a\u{1}b'", "U+0001"), ("# \u{7F}", "U+007F"), ("k\r = 1", "U+000D"),
        ])
    func namesTheLineAndTheRemedy(line: String, remedy: String) {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(decoding: "j = 1\n\(line)\n".utf8) }
        #expect(error?.line == 2)
        #expect(error?.reason.contains(remedy) == true, "\(error?.reason ?? "")")
    }

    @Test func refusesATableThatOccursTwice() {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(decoding: "[t]\na = 1\n[u]\n[t]\n".utf8) }
        #expect(error?.line == 4)
        #expect(error?.reason.contains("merge") == true)
    }

    /// A quoted name may contain any character, such as the dot between two names.
    @Test func tellsOneNameFromTwo() throws {
        let document = try TOMLDocument(decoding: "[a.b]\nk = 1\n['a.b']\nk = 2\n['1:a'.b]\nk = 3\n".utf8)
        #expect(document.tables.map(\.names) == [["a", "b"], ["a.b"], ["1:a", "b"]])
        #expect(document.entries.map(\.line) == [2, 4, 6])
    }

    @Test func readsTheElementsOfAnArrayOfTables() throws {
        let document = try TOMLDocument(
            decoding: "a = 1\n[[r]]\na = 1\n[t]\na = 2\n[[r]]\n[[r]] # x\na = 3\nb = 4\n".utf8)
        #expect(document.entries.map(\.line) == [1, 5])
        #expect(document.elements.map(\.line) == [2, 6, 7] && document.elements.allSatisfy { $0.name == "r" })
        #expect(document.elements.map { $0.entries.map(\.line) } == [[3], [], [8, 9]])
    }

    @Test(arguments: [("[[t]]\n[t]\n", "[[t]]"), ("[t]\n[[t]]\n", "[[t]]"), ("[[t]]\na = 1\na = 2\n", "remove one")])
    func keepsTablesAndArraysOfTablesApart(text: String, remedy: String) {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(decoding: text.utf8) }
        #expect(error?.reason.contains(remedy) == true)
    }

    @Test func refusesBytesThatAreNotUTF8() {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(decoding: Array("a = 1\n# ".utf8) + [0xFF]) }
        #expect(error?.line == 2)
        #expect(error?.reason.contains("UTF-8") == true)
    }

    /// Truncates and changes a document at every byte: each result is a document, or an error with a line of it.
    @Test func readsOrRefusesEveryDamagedFile() {
        let file = Array("# ü\n[network]\nca_file = \"/a\\u0041\"\nproxy = 'http://p:1'\nn = -12\nb = true\n".utf8)
        for index in file.indices {
            for byte in [nil, 0, 0x0A, 0x22, 0x27, 0x5B, 0x5C, 0x80, 0xFF] as [UInt8?] {
                var damaged = file
                if let byte { damaged[index] = byte } else { damaged.removeSubrange(index...) }
                do throws(TOMLError) {
                    _ = try TOMLDocument(decoding: damaged)
                } catch {
                    #expect((1...8).contains(error.line))
                }
            }
        }
    }
}
