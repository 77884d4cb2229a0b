internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The reader of JSON of any origin.
@Suite(.bounded) struct JSONReaderTests {
    @Test(arguments: ["[", #"{"a":"#, "[[[", #"[""#])
    func refusesDeepNesting(opening: String) {
        let bytes = Array(String(repeating: opening, count: 100_000).utf8)
        let error = #expect(throws: TokenError.self) { try JSONReader.read(bytes) }
        #expect(error?.code == .cacheBadFormat)
    }

    @Test func readsToADepthOf32() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try JSONReader.read(nested(32)) }
        let error = #expect(throws: TokenError.self) { try JSONReader.read(nested(33)) }
        #expect(error?.message.contains("nested deeper than 32") == true)
    }

    @Test func countsTheValuesOfEveryLevel() throws {
        let bytes = Array(#"{"a":[1,2,{"b":[]}]}"#.utf8)
        #expect(throws: Never.self) { try JSONReader.read(bytes, maximumValues: 6) }
        let error = #expect(throws: TokenError.self) { try JSONReader.read(bytes, maximumValues: 5) }
        #expect(error?.message.contains("more than 5 values") == true)
    }

    /// Comparing such a text takes a time that is quadratic in its length: minutes, for a megabyte.
    @Test(arguments: ["\u{301}\u{316}", #"\u0301\u0316"#])
    func refusesTextsThatTakeLongToCompare(marks: String) {
        let long = String(repeating: marks, count: 250_000)
        for text in ["\"\(long)\"", "{\"\(long)\":1}", "[{\"a\":\"x\(long)\"}]"] {
            let error = #expect(throws: TokenError.self) { try JSONReader.read(Array(text.utf8)) }
            #expect(error?.message.contains("combining characters") == true)
        }
    }

    @Test func tellsWhereATextIsIllFormed() {
        let bytes = Array(#"{"a":"x"#.utf8) + [0xFF] + Array(#"y"}"#.utf8)
        let error = #expect(throws: TokenError.self) { try JSONReader.read(bytes) }
        #expect(error?.message == "not JSON: ill-formed UTF-8 in the text at byte 6")
    }

    @Test(arguments: [
        "", " ", "nul", "01", "1.", ".5", "-", "1e", "+1", #""\x""#, #""\u12"#, "\"\u{1}\"", "[1 2]", "{1:2}", "{}{}",
        "[1,,2]", "\"\\",
    ])
    func refusesInvalidJSON(text: String) {
        #expect(throws: TokenError.self) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(arguments: [
        (
            #"{"a":[1,-2.5e+3,true,false,null],"b":"\u00e9\ud83d\ude00\n\"/"}"#,
            #"{"a":[1,-2.5e+3,true,false,null],"b":"é😀\n\"/"}"#
        ),
        (#"[1,{"x":2,},]"#, #"[1,{"x":2}]"#), (#""\ud800x""#, "\"\u{FFFD}x\""), ("\u{FEFF}{}", "{}"),
    ])
    func readsValidJSON(text: String, written: String) throws {
        #expect(try JSONReader.read(Array(text.utf8)).json == written)
    }

    @Test(arguments: [
        #"{"a":"é😀\ud83d\ude00\ud83dx\ud83d\n\ude00\u00e9\"\\","b":[1.5e-3,-0,true,null,{}]}"#,
        "{\"a\" : [ ] , \"b\":{}}",
    ])
    func readsTextsAndNumbersAcrossParts(text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try JSONReader.read(bytes)
        for size in 1..<bytes.count {
            let parts = stride(from: 0, to: bytes.count, by: size).map {
                Secret(bytes: bytes[$0..<min($0 + size, bytes.count)])
            }
            var reader = JSONReader(ByteFeed { $0 < parts.count ? parts[$0] : nil })
            #expect(try reader.value() == whole)
            try reader.finish()
        }
    }

    /// The fuzzer's corpus.
    @Test func survivesTheCorpus() throws {
        try FuzzCorpus.check("json", JSONProperties.broken)
    }
}
