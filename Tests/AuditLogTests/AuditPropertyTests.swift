internal import TestSupport
internal import Testing

@Suite(.bounded) struct AuditPropertyTests {
    @Test func holdForTheFuzzersCorpusAndItsChanges() throws {
        try FuzzCorpus.check("audit", changes: 100, AuditProperties.broken)
    }
}
