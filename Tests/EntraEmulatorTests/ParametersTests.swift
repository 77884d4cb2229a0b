internal import TestSupport
internal import Testing

@testable internal import EntraEmulator

@Suite(.bounded) struct ParametersTests {
    @Test(arguments: [
        ("a=1&b=2", ["a": "1", "b": "2"]),
        ("a=x+y%2Bz", ["a": "x y+z"]),
        ("a=b=c", ["a": "b=c"]),
        ("a", ["a": ""]),
        ("a=1&a=2", ["a": "2"]),
        ("a=%zz", ["a": "%zz"]),
        ("%C3%A9=%E2%82%AC", ["é": "€"]),
        ("", [:]),
    ])
    func decodes(text: String, fields: [String: String]) {
        #expect(Parameters(encoded: text).fields == fields)
    }

    @Test func encodesWhatItDecodes() {
        let fields = ["scope": "openid https://graph.example/.default", "state": "a&b=c+d é"]
        #expect(Parameters(encoded: Parameters(fields).encoded).fields == fields)
    }
}
