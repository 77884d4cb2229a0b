internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

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

        /// The files of Tests/Fuzz/corpus, by name.
        func corpus() throws -> [(name: String, bytes: [UInt8])] {
            let folder = PackageFolder.root.appending(path: "Tests/Fuzz/corpus/\(rawValue)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
            return try names.sorted().map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
        }
    }

    @Test(arguments: Target.allCases)
    func survivesTheCorpus(target: Target) throws {
        let corpus = try target.corpus()
        #expect(corpus.count >= 5)
        for (name, bytes) in corpus { #expect(target.broken(bytes) == nil, "\(name)") }
    }

    @Test(arguments: Target.allCases)
    func survivesTwentyThousandDamagedSamples(target: Target) throws {
        let corpus = try target.corpus().map(\.bytes).filter { $0.count < 4096 }
        var mutator = Mutator(seed: 0x5eed)
        for round in 0..<20_000 {
            let bytes = mutator.damage(corpus[round % corpus.count], with: corpus)
            if let broken = target.broken(bytes) {
                Issue.record("\(bytes.hex): \(broken)")
                return
            }
        }
    }
}
