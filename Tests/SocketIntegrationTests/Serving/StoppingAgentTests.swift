internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that is being stopped: it ends the requests in progress with `cancelled`.
@Suite(.bounded) struct StoppingAgentTests {
    private static let stopping = TokenError(.cancelled, "the agent is stopping")

    /// MSAL and ADAL report `cancelled` as the wish of the user, for which apps show nothing.
    @Test func doesNotTakeTheEndOfTheAgentForACancelledCall() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try PretendedAgent(at: path) { $0.answer(CompleteInteractive.self, with: .failure(Self.stopping)) }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) {
            try await client.completeInteractive(CompleteInteractive(sessionID: "1"))
        }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message.contains("try again") == true)
    }

    /// The agent may have changed the key before it ended. With the former passphrase, it would refuse the request now.
    @Test func sendsNoChangeOfTheKeyAgain() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let changes = Counter()
        _ = try PretendedAgent(at: path) { frame in
            guard (try? frame.request(SetKey.self)) != nil else { return nil }
            changes.add()
            throw TokenError(.internalError, "the agent has ended")
        }
        let client = AgentClient(socketPath: path, appName: "test")
        let error = await #expect(throws: TokenError.self) { try await client.setKey(SetKey(source: .file)) }
        #expect(error?.code == .agentUnavailable)
        #expect(error?.message.contains("the key may have changed") == true)
        #expect(error?.message.contains("try again") == false)
        #expect(changes.count == 1)
    }

    /// The sign-in has ended with the agent, which a further request would start again.
    @Test func sendsNothingMoreForASignInThatHasEndedWithTheAgent() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let (completions, cancellations) = (Counter(), Counter())
        let agent = try PretendedAgent(at: path) { frame in
            if (try? frame.request(CancelInteraction.self)) != nil { cancellations.add() }
            if (try? frame.request(CompleteInteractive.self)) != nil { completions.add() }
            return frame.answer(BeginInteractive.self, with: .success(.sample))
                ?? frame.answer(CompleteInteractive.self, with: .failure(Self.stopping))
        }
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let parameters = TokenParameters(
            clientID: try #require(ClientID("app-1")), authority: .common, scopes: ScopeSet(["User.Read"]),
            redirectURI: "http://localhost")
        let error = await #expect(throws: TokenError.self) {
            try await client.signIn(
                BeginInteractive(parameters: parameters),
                presenter: SignInPresenter(method: .browser, browserCommands: ["true"]))
        }
        #expect(error?.code == .agentUnavailable)
        #expect(completions.count == 1)
        #expect(cancellations.count == 0)
    }
}
