internal import TestSupport
internal import Testing

@Suite(.bounded) struct AuditPropertyTests {
    /// The fuzzer's corpus.
    @Test func holdForTheCorpus() throws {
        let inputs = try FuzzCorpus.inputs(of: "audit")
        #expect(inputs.count >= 5)
        for input in inputs { #expect(AuditProperties.broken(input.bytes) == nil, "\(input)") }
    }

    @Test func holdForChangesOfTheCorpus() throws {
        var random = TestSeed()
        let inputs = try FuzzCorpus.inputs(of: "audit")
        for _ in 0..<100 {
            for input in inputs {
                let bytes = FuzzCorpus.changed(input, among: inputs, with: &random)
                #expect(AuditProperties.broken(bytes) == nil, "\(input), \(random)")
            }
        }
    }
}
