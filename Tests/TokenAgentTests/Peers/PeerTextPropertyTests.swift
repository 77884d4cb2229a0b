internal import TestSupport
internal import Testing

@Suite(.bounded) struct PeerTextPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        #expect(try FuzzCorpus.violation(of: "peers", changes: 200, PeerTextProperties.broken) == nil)
    }
}
