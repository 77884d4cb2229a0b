internal import TestSupport
internal import Testing
internal import TokenModel

/// Members of an object that is not JSON as a whole.
@Suite(.bounded) struct DamagedObjectTests {
    private static func read(_ text: some Collection<UInt8>) -> String? {
        DamagedObject.texts(named: ["t", "u"], in: Secret(bytes: text))["t"]?.string
    }

    /// What is wrong with a member, in Latin-1.
    private static let damages = [
        "\"\u{FF}\":1", "\"x\":\"\u{C3}\"", "\"x\":NaN", "\"x\":01", "\"x\":-", "\"x\":None", "\"x\":", "x:1", "",
        "\"x\":\"\u{1}\n\"", #""x":"\x""#, #""x":"\ud""#, #""x":"a "b" c""#, #""x":[1 2]"#,
        "\"x\":" + String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000),
        "\"x\":[" + String(repeating: "0,", count: 20_000) + "]",
        "\"x\":\"" + String(repeating: "\u{CC}\u{81}", count: 31) + "\"",
    ]

    @Test(arguments: damages) func readsAMemberBesideADamagedOne(damage: String) {
        for text in ["{\(damage),\"t\":\"v\"}", "{\"t\" : \"v\" , \(damage)}"] {
            #expect(Self.read(text.unicodeScalars.map { UInt8($0.value) }) == "v", "\(text)")
        }
    }

    @Test(arguments: [
        ("{\"t\":\"v\"}\0", "v"), ("{\"t\":\"v\"} <!-- 12 ms -->", "v"), ("\u{FEFF} {\"t\":\"v\"", "v"),
        (#"{"t":"v","x":"y"#, "v"), (#"{"x":NaN,"t":"a\/\u0062\"}"}"#, #"a/b"}"#),
        (#"{"t":"1","t":"2","x":NaN}"#, "2"),
        (#"{"t":"1","t":7}"#, "1"), (#"{"u":"t","x":NaN,"t":"v"}"#, "v"),
    ])
    func readsAMemberOfADamagedObject(text: String, value: String) {
        #expect(Self.read(text.utf8) == value)
    }

    @Test(arguments: [
        "", "{", #""t":"v""#, #"[{"t":"v"}]"#, #"<html>{"t":"v"}"#, #"{}{"t":"v"}"#, #"{"x":{"t":"v"},NaN}"#,
        #"{"x":["t":"v"]}"#, #"{"x":"t":"v"}"#, #"{"t":7,NaN}"#, #"{"t":"v"#, #"{"t":"v\""#, #"{"t":"v\"#,
        #"{"t":"a"b"}"#, "{\"t\":\"\u{1}\"}", #"{"t":"\x"}"#, #"{"T":"v",NaN}"#, #"{"x":"{\"t\":\"v\"}",NaN}"#,
    ])
    func readsNoTextThatIsNotAWholeMemberOfTheObject(text: String) {
        #expect(Self.read(text.utf8) == nil)
    }

    @Test(arguments: ["\"", "\\", "{", "}", "[", ",", "\"t\":\"v\",", "\"t\":", "\"t\":\"\\"])
    func readsALongTextInLinearTime(part: String) {
        let text = "{" + String(repeating: part, count: (1 << 20) / part.utf8.count)
        #expect(Self.read(text.utf8) == (part.hasSuffix("v\",") ? "v" : nil))
    }
}
