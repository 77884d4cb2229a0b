internal import TestSupport
internal import Testing

@Suite(.bounded) struct StoreImagePropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("store-image", changes: 50, StoreImageProperties.broken)
    }
}
