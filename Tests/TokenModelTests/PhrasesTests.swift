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
}
