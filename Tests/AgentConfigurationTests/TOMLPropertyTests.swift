internal import TestSupport
internal import Testing

@Suite(.bounded) struct TOMLPropertyTests {
    /// The fuzzer's corpus.
    @Test func holdForTheCorpus() throws {
        let inputs = try FuzzCorpus.inputs(of: "toml")
        #expect(inputs.count >= 5)
        for input in inputs { #expect(TOMLProperties.broken(input.bytes) == nil, "\(input)") }
    }

    @Test func holdForChangesOfTheCorpus() throws {
        var random = TestSeed()
        let inputs = try FuzzCorpus.inputs(of: "toml")
        for _ in 0..<100 {
            for input in inputs {
                let bytes = FuzzCorpus.changed(input, among: inputs, with: &random)
                #expect(TOMLProperties.broken(bytes) == nil, "\(input), \(random)")
            }
        }
    }
}
