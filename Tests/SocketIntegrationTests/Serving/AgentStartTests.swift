internal import AgentSocket
internal import AgentTestSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// When a connection of the SDK starts an agent. How it does that is tested with processes, in OnDemandTests.
@Suite(.bounded) struct AgentStartTests {
    /// Counts the starts, none of which succeeds.
    private final class Starts: Sendable {
        private let counted = Mutex(0)

        var count: Int { counted.withLock(\.self) }

        func connection(to path: String, startsAgain: Bool) -> AgentConnection {
            AgentConnection(path: path, appName: "test", results: nil, restartsAgent: startsAgain) { _ in
                self.counted.withLock { $0 += 1 }
                return .mayNot(StartAdvice(forSocket: path, isolation: nil, AgentEnvironment(variables: [:])))
            }
        }
    }

    private static func status(_ connection: AgentConnection) async throws -> AgentStatus {
        switch try connection.exchange(GetStatus()) {
        case .replied(let reply): return try reply.reply(to: GetStatus.self)
        case .unfinished(let call):
            let outcome = await withCheckedContinuation { continuation in
                connection.wait(for: call, deadline: .distantFuture) { continuation.resume(returning: $0) }
            }
            return try outcome.get().reply(to: GetStatus.self)
        }
    }

    /// `ssoctl publish` takes no other path.
    @Test func namesTheAbsolutePathOfASocketThatWasPublished() {
        let variables = ["SSO_AGENT_SOCK": "x.sock", "SSO_AGENT_OWNER": "\(geteuid())"]
        let advice = StartAdvice(forSocket: "x.sock", isolation: nil, AgentEnvironment(variables: variables))
        let command = advice.problem("nobody listens").remedy?.command ?? ""
        let folder = FileManager.default.currentDirectoryPath
        #expect(command.hasSuffix(" publish --socket \("\(folder)/x.sock".shellWord) --app NAME"), "\(command)")
    }

    /// An agent at the other socket could not open the store of the one that runs. An agent of which a variable names the store could.
    @Test func namesTheVariableOfASocketBesideTheUsersAgent() async throws {
        try await AgentFixture.with { f in
            let folder = try TemporaryFolder()
            let (path, runtime) = (folder.file("x.sock"), folder.file("runtime"))
            try FileManager.default.createDirectory(
                atPath: runtime + "/sso-agent", withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: runtime + "/sso-agent/agent.sock", withDestinationPath: f.socketPath)
            // As a second agent has left it that could not open the store.
            try Data().write(to: URL(filePath: path + ".lock"))
            var variables = ["SSO_AGENT_SOCK": path, "XDG_RUNTIME_DIR": runtime, "HOME": folder.path]
            func problem() -> Problem {
                StartAdvice(forSocket: path, isolation: nil, AgentEnvironment(variables: variables)).problem("nobody")
            }
            #expect(problem().remedy?.command == "unset SSO_AGENT_SOCK")
            let again = "ssoctl publish --socket \(path.shellWord) --app NAME” publishes it again"
            #expect(problem().statement.contains(again))
            variables["SSO_AGENT_STATE_DIR"] = folder.file("state")
            #expect(problem().remedy?.command == "sso-agent --socket \(path.shellWord) &")
            variables["SSO_AGENT_STATE_DIR"] = nil
            try FileManager.default.removeItem(atPath: folder.file("runtime/sso-agent/agent.sock"))
            #expect(problem().remedy?.command == "sso-agent --socket \(path.shellWord) &")
        }
    }

    /// In words, since another user has to run it.
    @Test func namesTheAbsolutePathOfASocketThatAnotherUserHasPublished() {
        let variables = ["SSO_AGENT_SOCK": "x.sock", "SSO_AGENT_OWNER": "\(geteuid() + 1)"]
        let advice = StartAdvice(forSocket: "x.sock", isolation: nil, AgentEnvironment(variables: variables))
        let statement = advice.problem("nobody listens").statement
        let path = "\(FileManager.default.currentDirectoryPath)/x.sock".shellWord
        #expect(statement.contains("ssoctl publish --socket \(path) --uid \(geteuid()) "), "\(statement)")
    }

    @Test(arguments: [false, true])
    func startsAnAgentThatHasStoppedUnlessTheConnectionIsASubscription(startsAgain: Bool) async throws {
        let starts = Starts()
        var path = ""
        var connected: AgentConnection?
        try await AgentFixture.with { f in
            path = f.socketPath
            let connection = starts.connection(to: path, startsAgain: startsAgain)
            _ = try await Self.status(connection)
            connected = connection
        }
        #expect(starts.count == 0)
        let connection = try #require(connected)
        let error = await #expect(throws: TokenError.self) { try await Self.status(connection) }
        #expect(error?.code == .agentUnavailable)
        #expect((starts.count > 0) == startsAgain)
        // What helps is not looked for where nobody reads it.
        #expect((error?.details.nextCommand != nil) == startsAgain)
        #expect(error?.message.hasPrefix("no agent is running at \(path)") == true)
        connection.close()
    }

    @Test(arguments: [false, true])
    func startsAnAgentForItsFirstCall(startsAgain: Bool) async throws {
        let (starts, folder) = (Starts(), try TemporaryFolder())
        let connection = starts.connection(to: folder.file("no.sock"), startsAgain: startsAgain)
        let error = await #expect(throws: TokenError.self) { try await Self.status(connection) }
        #expect(error?.code == .agentUnavailable)
        #expect(starts.count == 1)
        connection.close()
    }
}
