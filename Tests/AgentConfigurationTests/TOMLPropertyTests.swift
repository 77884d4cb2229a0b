internal import TestSupport
internal import Testing

@Suite(.bounded) struct TOMLPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("toml", changes: 100, TOMLProperties.broken)
    }
}
