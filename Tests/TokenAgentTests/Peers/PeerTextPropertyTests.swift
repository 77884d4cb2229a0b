internal import TestSupport
internal import Testing

@Suite(.bounded) struct PeerTextPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("peers", changes: 200, PeerTextProperties.broken)
    }
}
