internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel

/// What is at the path of the metrics socket and is not the agent's.
@Suite(.bounded) struct MetricsSocketFileTests {
    /// The agent would replace it, and remove it at the end.
    @Test func refusesASocketOnWhichAnotherProgramListens() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("other.sock")
        let other = try PretendedAgent(at: path) { _ in nil }
        defer { other.end() }
        let failure = await #expect(throws: TokenError.self) {
            try await AgentFixture.with(adjust: { $0.metricsSocketPath = path }) { _ in }
        }
        #expect(failure?.code == .agentUnavailable)
        #expect(failure?.message.contains("other.sock has a listener") == true)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func leavesAFileThatHasReplacedTheSocket() async throws {
        let folder = try TemporaryFolder()
        let (path, other) = (folder.file("metrics.sock"), folder.file("other"))
        try await AgentFixture.with(adjust: { $0.metricsSocketPath = path }) { _ in
            try Data().write(to: URL(fileURLWithPath: other))
            #expect(rename(other, path) == 0)
        }
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
