internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent of another user, whom `SSO_AGENT_OWNER` names. `ssoctl` shows no command of it; a further line of a text could look like one.
@Suite(.bounded) struct ForgedLineTests {
    @Test(
        arguments: [
            (["accounts"], 1), (["status"], 0), (["key"], 0), (["doctor"], 1), (["reload"], 0),
        ] as [([String], Int32)])
    func showsEachTextOnOneLine(arguments: [String], status: Int32) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let agent = try PretendedAgent(at: path) { frame in
                Self.reply(to: frame, with: "it is locked\n  → curl evil.example")
            }
            defer { agent.end() }
            let variables = ["SSO_AGENT_SOCK": path, "SSO_AGENT_OWNER": "4711"]
            let printed = try await f.ssoctl(arguments, status: status, variables: variables)
            let text = printed.output + printed.errors
            #expect(text.contains("it is locked"), "\(text)")
            #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("→ curl") }, "\(text)")
        }
    }

    /// A person runs what follows an arrow.
    @Test func showsNoCommandOfAnotherUsersChecks() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let check = HealthCheck(name: "store", ok: false, detail: "it is locked", hint: "curl evil.example")
            let agent = try PretendedAgent(at: path) { frame in
                frame.answer(Diagnose.self, with: .success(Diagnose.Reply(checks: [check])))
            }
            defer { agent.end() }
            let variables = ["SSO_AGENT_SOCK": path, "SSO_AGENT_OWNER": "4711"]
            let printed = try await f.ssoctl(["doctor"], status: 1, variables: variables).output
            #expect(printed.contains("it is locked") && !printed.contains("evil.example"), "\(printed)")
        }
    }

    /// The same holds for what the agent itself says of its state, and for its refusals.
    @Test(arguments: [(["status"], 0), (["key"], 0), (["accounts"], 1)] as [([String], Int32)])
    func showsNoCommandOfAnotherUsersAgent(arguments: [String], status: Int32) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let (problem, command) = ("it is locked", "curl evil.example")
            let state = AgentStatus(
                processID: 1, version: "1", protocolVersion: 1, socketPath: "/s", stateDirectory: "/d",
                uptimeSeconds: 1, accounts: 0, storeProblem: problem, nextCommand: command)
            var key = KeyStatus(source: .file, place: "/d", isOpen: false, problem: problem)
            key.nextCommand = command
            var refusal = TokenError(.storeUnavailable, problem)
            refusal.details.nextCommand = command
            let agent = try PretendedAgent(at: path) { [key, refusal] frame in
                frame.answer(GetStatus.self, with: .success(state)) ?? frame.answer(GetKey.self, with: .success(key))
                    ?? frame.answer(ListAccounts.self, with: .failure(refusal))
            }
            defer { agent.end() }
            let variables = ["SSO_AGENT_SOCK": path, "SSO_AGENT_OWNER": "4711"]
            let printed = try await f.ssoctl(arguments, status: status, variables: variables)
            let text = printed.output + printed.errors
            #expect(text.contains(problem) && !text.contains("evil.example"), "\(text)")
        }
    }

    /// The identity provider chooses the names.
    @Test func showsEachAccountOnOneLine() async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let account = Account(
                homeAccountID: HomeAccountID("a.b"), username: "alice\n  → curl evil.example", environment: "host",
                source: .msal)
            let agent = try PretendedAgent(at: path) { $0.answerLists(with: [account]) }
            defer { agent.end() }
            let printed = try await f.ssoctl(["accounts"], variables: ["SSO_AGENT_SOCK": path]).output
            let isWhole = printed.split(separator: "\n").contains { $0.contains("alice") && $0.contains("→ curl") }
            #expect(isWhole, "\(printed)")
        }
    }

    /// The identity provider chooses the name of an account, and another user's agent the label of a socket.
    @Test(arguments: [["sign-out", "alice"], ["use", "alice"], ["unpublish", "build"]])
    func showsTheNameOfWhatWasChangedOnOneLine(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let name = "alice\n\t→ curl evil.example"
            let account = Account(
                homeAccountID: HomeAccountID("a.b"), username: name, environment: "host", source: .msal)
            let agent = try PretendedAgent(at: path) { frame in
                frame.answerLists(with: [account])
                    ?? frame.answer(UnpublishSocket.self, with: .success(UnpublishSocket.Reply(label: name)))
                    ?? frame.answer(RemoveAccount.self, with: .success(RemoveAccount.Reply(removed: true)))
            }
            defer { agent.end() }
            let printed = try await f.ssoctl(arguments, variables: ["SSO_AGENT_SOCK": path]).output
            #expect(printed.contains("alice  → curl evil.example") && printed.count { $0 == "\n" } == 1, "\(printed)")
        }
    }

    /// A line break in a token or its type would be the beginning of another header.
    @Test(
        arguments: [
            ("token\r\nX-Header: 1", "Bearer"), ("token", "Bearer\nX-Header: 1"), ("to\u{7F}ken", "Bearer"),
        ])
    func printsNoTokenWithControlCharacters(token: String, type: String) async throws {
        try await AgentProcessFixture.with { f in
            let path = f.folder.file("other.sock")
            let account = Account(
                homeAccountID: HomeAccountID("a.b"), username: nil, environment: "host", source: .msal)
            let result = TokenResult(
                accessToken: Secret(token), tokenType: type, expiresOn: 4_000_000_000, scopes: ["s"], idToken: nil,
                account: account, tenantProfile: nil, authority: "https://host/common", correlationID: CorrelationID(),
                isFromCache: true)
            let agent = try PretendedAgent(at: path) { $0.answer(AcquireTokenSilent.self, with: .success(result)) }
            defer { agent.end() }
            let arguments = [
                "token", "--client-id", "app-1", "--scope", "s", "--account", "a.b", "--authority",
                "https://login.microsoftonline.com/common", "--header",
            ]
            let printed = try await f.ssoctl(arguments, status: 1, variables: ["SSO_AGENT_SOCK": path])
            #expect(printed.output.isEmpty && printed.errors.contains("control characters"), "\(printed)")
        }
    }

    /// A reply with this text as its message, its problem or its detail; nil for `hello`.
    private static func reply(to frame: RequestFrame, with text: String) -> [UInt8]? {
        let status = AgentStatus(
            processID: 1, version: "1", protocolVersion: 1, socketPath: "/s", stateDirectory: "/d", uptimeSeconds: 1,
            accounts: 0, storeProblem: text)
        let key = KeyStatus(source: .file, place: "/d", isOpen: false, problem: text)
        let check = HealthCheck(name: "store", ok: false, detail: text)
        let read = ReloadConfiguration.Reply(files: [text], applied: [], awaitingRestart: [])
        return frame.answer(GetStatus.self, with: .success(status))
            ?? frame.answer(GetKey.self, with: .success(key))
            ?? frame.answer(Diagnose.self, with: .success(Diagnose.Reply(checks: [check])))
            ?? frame.answer(ReloadConfiguration.self, with: .success(read))
            ?? frame.answer(ListAccounts.self, with: .failure(TokenError(.storeUnavailable, text)))
    }
}
