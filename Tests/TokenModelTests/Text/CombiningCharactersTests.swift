internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct CombiningCharactersTests {
    @Test(arguments: [
        "", "alice", "zażółć", "e\u{301}\u{316}", "हिन्दी", "ก็่", String(repeating: "e\u{301}", count: 5000),
        "e" + String(repeating: "\u{301}", count: 30), "😀\u{200D}😀", String(repeating: "가", count: 5000),
        String(repeating: "x", count: 100_000),
    ])
    func acceptsWhatPeopleWrite(text: String) {
        #expect(!CombiningCharacters.areExcessive(in: text))
        #expect(ValueLimits.message(text, limit: .max) == text)
    }

    @Test(arguments: [
        "e" + String(repeating: "\u{301}", count: 31), String(repeating: "\u{301}\u{316}", count: 200_000),
        "zażółć" + String(repeating: "\u{5B0}", count: 40), "\u{1E8D0}" + String(repeating: "\u{1E8D0}", count: 40),
    ])
    func refusesRunsThatTakeLongToCompare(text: String) {
        #expect(CombiningCharacters.areExcessive(in: text))
        #expect(!ValueLimits.isPrintable(text))
        for shown in [ValueLimits.name(text), ValueLimits.message(text), UntrustedText.clean(text)] {
            #expect(!CombiningCharacters.areExcessive(in: shown))
            #expect(shown.unicodeScalars.count <= 40)
        }
    }
}
