internal import TestSupport
internal import Testing

@Suite(.bounded) struct ResponsePropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("response", changes: 50, ResponseProperties.broken)
    }
}
