internal import TestSupport
internal import Testing

@testable internal import TokenEndpoint

@Suite(.bounded) struct FormParametersTests {
    @Test(arguments: ["a b", "a+b", "a&b=c", "100%", "äöü €", "\u{1F600}", "~-._", "", "\0\n"])
    func decodesWhatItEncoded(value: String) throws {
        var form = FormParameters()
        form.add("first", value)
        form.add(value, "second")
        let decoded = try #require(FormParameters(decoding: form.encoded[...]))
        #expect(decoded["first"] == value)
        #expect(decoded[value] == "second")
    }

    @Test func encodesEverythingButTheUnreservedCharacters() {
        var form = FormParameters()
        form.add("scope", "https://x/.default a+b~c")
        #expect(form.encoded == "scope=https%3A%2F%2Fx%2F.default%20a%2Bb~c")
    }

    @Test(arguments: ["a=1&a=2", "a=%", "a=%4", "a=%zz", "%fe=1&%ff=2"])
    func refusesRepeatsAndBrokenEncoding(text: String) {
        #expect(FormParameters(decoding: text[...]) == nil)
    }

    @Test func readsAPlusAsASpace() {
        #expect(FormParameters(decoding: "error_description=no+way&flag")?["error_description"] == "no way")
    }

    @Test func readsWhatIsUTF8BesideAnotherEncoding() throws {
        let decoded = try #require(FormParameters(decoding: "error=x&error_description=f%FCr+M%FCller"))
        #expect(decoded["error"] == "x")
        #expect(decoded["error_description"] == "f\u{FFFD}r M\u{FFFD}ller")
    }

    /// Finding a name twice takes a time that is quadratic in their number, and comparing such texts one that is quadratic in their
    /// length.
    @Test func refusesAResponseThatTakesLongToDecode() {
        let names = (0..<20_000).map { "p\($0)=1" }.joined(separator: "&")
        let marks = String(repeating: "%CC%81%CC%96", count: 5000)
        for text in [names, "\(marks)=1", "state=\(marks)"] {
            #expect(FormParameters(decoding: text[...]) == nil)
        }
        #expect(FormParameters(decoding: (0..<64).map { "p\($0)=1" }.joined(separator: "&")[...]) != nil)
    }
}
