internal import TestSupport
internal import Testing

/// The fuzzer's corpus, unchanged and with seeded mutations, which are the same in every run.
@Suite(.bounded) struct MutationTests {
    enum Target: String, CaseIterable, Sendable {
        case request, reply, frames

        func broken(_ bytes: [UInt8]) -> String? {
            switch self {
            case .request: WireProperties.brokenRequest(bytes)
            case .reply: WireProperties.brokenReply(bytes)
            case .frames: WireProperties.brokenFrames(bytes)
            }
        }
    }

    @Test(arguments: Target.allCases)
    func survivesTheCorpus(target: Target) throws {
        try FuzzCorpus.check(target.rawValue, target.broken)
    }

    @Test(arguments: Target.allCases)
    func survivesTwentyThousandDamagedSamples(target: Target) throws {
        let corpus = try FuzzCorpus.inputs(of: target.rawValue).map(\.bytes).filter { $0.count < 4096 }
        var mutator = Mutator()
        for round in 0..<20_000 {
            let bytes = mutator.damage(corpus[round % corpus.count], with: corpus)
            if let broken = target.broken(bytes) {
                Issue.record("\(bytes.hex): \(broken)")
                return
            }
        }
    }
}
