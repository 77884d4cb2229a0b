internal import TestSupport
internal import Testing

@Suite(.bounded) struct AuditPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        #expect(try FuzzCorpus.violation(of: "audit", changes: 100, AuditProperties.broken) == nil)
    }
}
