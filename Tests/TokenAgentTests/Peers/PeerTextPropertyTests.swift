internal import TestSupport
internal import Testing

@Suite(.bounded) struct PeerTextPropertyTests {
    /// The fuzzer's corpus.
    @Test func holdForTheCorpus() throws {
        let inputs = try FuzzCorpus.inputs(of: "peers")
        #expect(inputs.count >= 5)
        for input in inputs { #expect(PeerTextProperties.broken(input.bytes) == nil, "\(input)") }
    }

    @Test func holdForChangesOfTheCorpus() throws {
        var random = TestSeed()
        let inputs = try FuzzCorpus.inputs(of: "peers")
        for _ in 0..<200 {
            for input in inputs {
                let bytes = FuzzCorpus.changed(input, among: inputs, with: &random)
                #expect(PeerTextProperties.broken(bytes) == nil, "\(input), \(random)")
            }
        }
    }
}
