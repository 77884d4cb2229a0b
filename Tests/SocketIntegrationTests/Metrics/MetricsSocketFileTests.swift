internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent

/// What is at the path of the metrics socket and is not the agent's.
@Suite(.bounded) struct MetricsSocketFileTests {
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
