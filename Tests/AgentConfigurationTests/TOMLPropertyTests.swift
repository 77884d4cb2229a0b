internal import TestSupport
internal import Testing

@Suite(.bounded) struct TOMLPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        #expect(try FuzzCorpus.violation(of: "toml", changes: 100, TOMLProperties.broken) == nil)
    }
}
