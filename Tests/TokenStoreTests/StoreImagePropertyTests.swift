internal import TestSupport
internal import Testing

@Suite(.bounded) struct StoreImagePropertyTests {
    /// The fuzzer's corpus.
    @Test func holdForTheCorpus() throws {
        let inputs = try FuzzCorpus.inputs(of: "store-image")
        #expect(inputs.count >= 5)
        for input in inputs { #expect(StoreImageProperties.broken(input.bytes) == nil, "\(input)") }
    }

    @Test func holdForChangesOfTheCorpus() throws {
        var random = TestSeed()
        let inputs = try FuzzCorpus.inputs(of: "store-image")
        for _ in 0..<50 {
            for input in inputs {
                let bytes = FuzzCorpus.changed(input, among: inputs, with: &random)
                #expect(StoreImageProperties.broken(bytes) == nil, "\(input), \(random)")
            }
        }
    }
}
