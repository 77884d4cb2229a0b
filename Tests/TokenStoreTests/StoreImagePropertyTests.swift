internal import TestSupport
internal import Testing

@Suite(.bounded) struct StoreImagePropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        #expect(try FuzzCorpus.violation(of: "store-image", changes: 50, StoreImageProperties.broken) == nil)
    }
}
