internal import AgentTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import AgentClient

/// The reading thread while it looks for an agent, and starts one.
@Suite(.bounded) struct ConnectionReaderTests {
    /// The start goes on until the call has ended: without a deadline, neither would.
    @Test func endsACallAtItsDeadlineWhileTheAgentIsBeingStarted() async throws {
        let folder = try TemporaryFolder()
        let hasEnded = Flag()
        let connection = AgentConnection(path: folder.file("agent.sock"), appName: "test", results: nil) {
            while !hasEnded.isSet { $0() }
            return .failed(Problem("nothing was started"))
        }
        let outcome = try await outcome(of: connection, .milliseconds(50)) { hasEnded.set() }
        #expect(throws: TokenError(.timedOut, "the agent did not answer in time")) { try outcome.get() }
        connection.close()
    }

    /// The deadline has passed when the thread finds no agent.
    @Test func startsNoAgentIfEveryCallHasEnded() async throws {
        let folder = try TemporaryFolder()
        let isStarted = Flag()
        weak var usedByThread: AgentConnection?
        do {
            let connection = AgentConnection(path: folder.file("agent.sock"), appName: "test", results: nil) {
                isStarted.set()
                $0()
                return .failed(Problem("nothing was started"))
            }
            usedByThread = connection
            let outcome = try await outcome(of: connection, .zero)
            #expect(throws: TokenError(.timedOut, "the agent did not answer in time")) { try outcome.get() }
        }
        // The call ends before the thread decides whether to start an agent.
        while usedByThread != nil { await letOthersRun() }
        #expect(!isStarted.isSet)
    }

    @Test func endsCallsWithTheReasonWhyNoneCouldBeStarted() async throws {
        let folder = try TemporaryFolder()
        let connection = AgentConnection(path: folder.file("agent.sock"), appName: "test", results: nil) { _ in
            .failed(Problem("it could not be started: no reason", .run("ssoctl init")))
        }
        let outcome = try await outcome(of: connection, .seconds(600))
        let error = #expect(throws: TokenError.self) { try outcome.get() }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.statement.hasSuffix("agent.sock; it could not be started: no reason") == true)
        #expect(error?.details.nextCommand == "ssoctl init" && error?.message.hasSuffix("; run: ssoctl init") == true)
    }

    @Test func endsCallsWithTheErrorOfASocketThatCannotBeUsed() async throws {
        let folder = try TemporaryFolder()
        let refused = TokenError(.peerNotAuthorized, "another user's")
        let connection = AgentConnection(path: folder.file("agent.sock"), appName: "test", results: nil) { _ in
            .unusable(refused)
        }
        let outcome = try await outcome(of: connection, .seconds(600))
        #expect(throws: refused) { try outcome.get() }
    }

    @Test func namesTheCommandThatFindsOutWhyNoConnectionCanBeMade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let busy = try BusySocket(at: path)
        let connection = AgentConnection(path: path, appName: "test", results: nil) { _ in
            .failed(Problem("an agent listens"))
        }
        let outcome = try await outcome(of: connection, .seconds(600))
        let error = #expect(throws: TokenError.self) { try outcome.get() }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message == "the agent at \(path) accepts no connection at present; run: ssoctl doctor")
        #expect(error?.details.nextCommand == "ssoctl doctor")
        #expect(AgentConnection.gone.message.hasSuffix("; try again, or run: ssoctl doctor"))
        withExtendedLifetime(busy) {}
    }

    @Test func repeatsNoFailedStartAtOnce() {
        var failures = FailedStarts()
        let now = MonotonicTime.now
        failures.add(Problem("no reason"), at: "/a", now: now)
        #expect(failures.reason(at: "/a", now: now.advanced(by: .seconds(4))) == Problem("no reason"))
        #expect(failures.reason(at: "/b", now: now) == nil)
        #expect(failures.reason(at: "/a", now: now.advanced(by: .seconds(6))) == nil)
    }

    /// Sends a request, and waits for its outcome.
    private func outcome(
        of connection: AgentConnection, _ limit: Duration, onEnd: @escaping @Sendable () -> Void = {}
    ) async throws -> AgentConnection.Outcome {
        guard case .unfinished(let call) = try connection.exchange(GetStatus()) else {
            throw TokenError(.internalError, "there is an agent")
        }
        return await withCheckedContinuation { continuation in
            connection.wait(for: call, deadline: .now.advanced(by: limit)) {
                onEnd()
                continuation.resume(returning: $0)
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)

        var isSet: Bool { value.load(ordering: .relaxed) }

        func set() { value.store(true, ordering: .relaxed) }
    }
}
