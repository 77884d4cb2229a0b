internal import TestSupport
internal import Testing

@testable internal import TokenModel

@Suite(.bounded) struct PhrasesTests {
    @Test func writesNumbersAndDurationsAsPeopleDo() {
        #expect(Phrases.count(1, "account") == "1 account" && Phrases.count(0, "app") == "0 apps")
        #expect(Phrases.duration(8 * 3600) == "8 hours" && Phrases.duration(1) == "1 second")
        #expect(Phrases.duration(3600 + 20 * 60) == "1 hour 20 minutes")
        #expect(Phrases.duration(-5) == "0 seconds")
    }

    @Test(arguments: [
        (100, "0.1 ms"), (250, "0.25 ms"), (1_000, "1 ms"), (2_500, "2.5 ms"), (30_000_000, "30000 ms"), (0, "0 ms"),
    ])
    func writesMillisecondsWithoutRounding(microseconds: Int64, text: String) {
        #expect(Phrases.milliseconds(microseconds) == text)
    }

    /// A letter before the apostrophe, or a combining character behind it, forms one character with it.
    @Test(arguments: [
        ("alice@contoso.com", "alice@contoso.com"), ("", "''"), ("o'brien", #"'o'\''brien'"#),
        ("a'\u{301};x", "'a'\\''\u{301};x'"), ("a\u{D4E}';x", "'a\u{D4E}'\\'';x'"),
    ])
    func quotesEveryApostropheForAShell(text: String, word: String) {
        #expect(Array(text.shellWord.utf8) == Array(word.utf8))
    }
}
