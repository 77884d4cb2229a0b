internal import TestSupport
internal import Testing

@Suite(.bounded) struct ResponsePropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        #expect(try FuzzCorpus.violation(of: "response", changes: 50, ResponseProperties.broken) == nil)
    }
}
