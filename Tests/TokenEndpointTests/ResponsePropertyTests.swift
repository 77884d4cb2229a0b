internal import TestSupport
internal import Testing

@Suite(.bounded) struct ResponsePropertyTests {
    /// The fuzzer's corpus.
    @Test func holdForTheCorpus() throws {
        let inputs = try FuzzCorpus.inputs(of: "response")
        #expect(inputs.count >= 5)
        for input in inputs { #expect(ResponseProperties.broken(input.bytes) == nil, "\(input)") }
    }

    @Test func holdForChangesOfTheCorpus() throws {
        var random = TestSeed()
        let inputs = try FuzzCorpus.inputs(of: "response")
        for _ in 0..<50 {
            for input in inputs {
                let bytes = FuzzCorpus.changed(input, among: inputs, with: &random)
                #expect(ResponseProperties.broken(bytes) == nil, "\(input), \(random)")
            }
        }
    }
}
