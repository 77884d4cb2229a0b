internal import TestSupport
internal import Testing

/// Explores every interleaving of the protocol by which apps keep results (docs/coherence.md).
@Suite(.bounded) struct CoherenceModelTests {
    @Test func handsOutNoTokenAfterItsRemovalWasAcknowledged() {
        let explorer = StateExplorer(CoherenceModel())
        #expect(explorer.violation == nil)
        // Fewer states would mean that a step has become impossible.
        #expect(explorer.stateCount > 20_000, "\(explorer.stateCount) states")
    }

    @Test(arguments: CoherenceModel.Mutation.allCases)
    func findsTheDefectOfAWrongProtocol(mutation: CoherenceModel.Mutation) throws {
        let explorer = StateExplorer(CoherenceModel(mutation))
        let steps = try #require(explorer.violation, "\(explorer.stateCount) states without a violation")
        #expect(steps.count > 5, "\(steps)")
    }

    @Test func reachesAKeptResultThatStandsAndOneThatHasEnded() {
        var (stands, ended) = (false, false)
        var states = [CoherenceModel().start]
        var seen = Set(states)
        while let state = states.popLast(), !stands || !ended {
            if let kept = state.kept {
                if state.generations[Int(kept.agent)] == kept.generation { stands = true } else { ended = true }
            }
            for (_, next) in CoherenceModel().successors(of: state) where seen.insert(next).inserted {
                states.append(next)
            }
        }
        #expect(stands && ended)
    }
}
