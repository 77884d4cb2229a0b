internal import AgentClient
internal import AgentTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that breaks the rules of a transfer, as a broken one could, or one of another user whom `SSO_AGENT_OWNER` names.
@Suite(.bounded) struct BrokenTransferTests {
    @Test func endsAnImportWhoseLastPartHasNoReport() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            frame.answer(ImportCache.self, with: .success(ImportCache.Reply(importID: "1")))
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) {
            try await client.importCache(Secret("{}"), format: .msalJSON)
        }
        #expect(error?.code == .malformedMessage)
        let blocking = #expect(throws: TokenError.self) {
            try client.importCacheAndWait(Secret("{}"), format: .msalJSON)
        }
        #expect(blocking?.code == .malformedMessage)
    }

    /// The number of bytes that follow is the negative one of those that have arrived.
    @Test func reportsNoProgressThatIsNotAFraction() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { frame in
            guard let request = try? frame.request(ExportCache.self) else { return nil }
            let next = request.exportID == nil ? "1" : nil
            return ReplyFrame.encode(
                .success(ExportCache.Reply(data: Secret("{}"), remaining: -2, next: next)), to: ExportCache.self,
                id: frame.id)
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let fractions = Fractions()
        let cache = try await client.exportCache(.msalJSON, includesSecrets: true, progress: fractions.add)
        #expect(cache == Secret("{}{}"))
        #expect(fractions.all == [1, 1])
    }

    @Test func endsAnExportThatHasNoEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let part = ExportCache.Reply(data: Secret(""), remaining: 1, next: "1")
        let agent = try PretendedAgent(at: path) { $0.answer(ExportCache.self, with: .success(part)) }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) {
            try await client.exportCache(.msalJSON, includesSecrets: true)
        }
        #expect(error?.code == .malformedMessage)
        let blocking = #expect(throws: TokenError.self) {
            try client.exportCacheAndWait(.msalJSON, includesSecrets: true)
        }
        #expect(blocking?.code == .malformedMessage)
    }

    private final class Fractions: Sendable {
        private let values = Mutex<[Double]>([])

        var all: [Double] { values.withLock(\.self) }

        func add(_ value: Double) { values.withLock { $0.append(value) } }
    }
}
