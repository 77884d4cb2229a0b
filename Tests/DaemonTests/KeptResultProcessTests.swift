internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Results that this process keeps, while other processes sign out and the agent is killed.
@Suite(.boundedLong) struct KeptResultProcessTests {
    /// The number of rounds; `SSO_AGENT_ROUNDS` changes it.
    private static let rounds = ProcessInfo.processInfo.environment["SSO_AGENT_ROUNDS"].flatMap { Int($0) } ?? 20

    private static func keep(_ client: AgentClient, _ request: AcquireTokenSilent) async throws {
        // The first call connects.
        for _ in 0..<3 where client.keptResult(for: request) == nil { _ = try await client.acquireTokenSilent(request) }
        #expect(client.keptResult(for: request) != nil)
    }

    /// What a thread that asks all the time has got.
    private struct Asker: Sendable {
        let client: AgentClient
        let request: AcquireTokenSilent
        let isDone = Flag()

        final class Flag: Sendable {
            private let value = Atomic(false)
            func set() { value.store(true, ordering: .sequentiallyConsistent) }
            var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
        }

        /// Asks until a request that was made after the sign-out was refused. Returns how many requests after it got a token.
        @concurrent func run() async -> Int {
            var late = 0
            while true {
                // Read before the request is made.
                let isAfterSignOut = isDone.isSet
                do throws(TokenError) {
                    _ = try await client.acquireTokenSilent(request)
                    if isAfterSignOut { late += 1 }
                } catch {
                    if isAfterSignOut { return late }
                }
                if late > 100 { return late }
            }
        }
    }

    @Test func handsOutNoTokenAfterASignOutInAnotherProcess() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            let parameters = try f.parameters()
            for round in 0..<Self.rounds {
                let account = try await f.signIn("alice@contoso.com", parameters).account.reference
                let request = AcquireTokenSilent(parameters: parameters, account: account)
                try await Self.keep(client, request)
                let asker = Asker(client: client, request: request)
                async let late = asker.run()
                let ended = try await f.run(
                    "ssoctl", ["sign-out", "--client-id", "app-1", "--username", "alice@contoso.com"])
                asker.isDone.set()
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(await late == 0, "round \(round)")
                #expect(client.keptResult(for: request) == nil)
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func needsNoAnswerOfTheAgent() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            let request = AcquireTokenSilent(parameters: parameters, account: account)
            let client = AgentClient(socketPath: f.socketPath)
            try await Self.keep(client, request)
            agent.process.signal(SIGSTOP)
            for _ in 0..<100 { #expect(try await client.acquireTokenSilent(request).isFromCache) }
            agent.process.signal(SIGCONT)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func returnsNothingAfterItsAgentWasKilled() async throws {
        try await AgentProcessFixture.with { f in
            let parameters = try f.parameters()
            let client = AgentClient(socketPath: f.socketPath)
            for round in 0..<Self.rounds {
                let agent = try await f.agent()
                let account = try await f.signIn("alice@contoso.com", parameters).account.reference
                let request = AcquireTokenSilent(parameters: parameters, account: account)
                try await Self.keep(client, request)
                if round.isMultiple(of: 2) {
                    // Asked once more, so that the connection is in use.
                    _ = try await client.acquireTokenSilent(request)
                }
                try await agent.process.killHard()
                // At once, whether or not the client has noticed that its connection has ended.
                #expect(client.keptResult(for: request) == nil, "round \(round)")
                let failure = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(request) }
                #expect(failure?.code == .agentUnavailable)
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGKILL, SIGSEGV])
    func keepsResultsOfTheNextAgentOnly(signal: Int32) async throws {
        try await AgentProcessFixture.with { f in
            let parameters = try f.parameters()
            let client = AgentClient(socketPath: f.socketPath)
            let first = try await f.agent()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            let request = AcquireTokenSilent(parameters: parameters, account: account)
            try await Self.keep(client, request)
            first.process.signal(signal)
            _ = try await first.process.finish()
            #expect(client.keptResult(for: request) == nil)
            let second = try await f.agent()
            // Signed out with the second agent, by a connection of its own.
            _ = try await AgentClient(socketPath: f.socketPath).removeAccount(
                RemoveAccount(clientID: parameters.clientID, account: account))
            #expect(client.keptResult(for: request) == nil)
            let failure = await #expect(throws: TokenError.self) { try await client.acquireTokenSilent(request) }
            #expect(failure?.code == .interactionRequired)
            try await f.signIn("alice@contoso.com", parameters)
            try await Self.keep(client, request)
            withExtendedLifetime(second) {}
        }
    }

    /// Signs in, and requests the token three times, of which the client keeps nothing.
    private static func requestThatIsNotKept(_ f: AgentProcessFixture) async throws -> AcquireTokenSilent {
        let parameters = try f.parameters()
        let account = try await f.signIn("alice@contoso.com", parameters).account.reference
        let request = AcquireTokenSilent(parameters: parameters, account: account)
        let client = AgentClient(socketPath: f.socketPath)
        for _ in 0..<3 { #expect(try await client.acquireTokenSilent(request).isFromCache) }
        #expect(client.keptResult(for: request) == nil)
        return request
    }

    @Test func keepsNothingIfTheConfigurationForbidsIt() async throws {
        let rules = "[tokens]\nkept_by_apps = false\n[[rule]]\nrequests = [\"all\"]\neffect = \"allow\"\n"
        try await AgentProcessFixture.with(rules: rules) { f in
            let agent = try await f.agent()
            let request = try await Self.requestThatIsNotKept(f)
            #expect(try await RawHello(f, wants: true, request).reply.descriptors == 0)
            withExtendedLifetime(agent) {}
        }
    }

    /// Each request needs the person again.
    @Test func keepsNothingThatAPersonConfirms() async throws {
        let rules = """
            [confirmation]
            askpass = "/bin/true"
            [[rule]]
            requests = ["acquire_token_silent"]
            effect = "confirm"
            [[rule]]
            requests = ["all"]
            effect = "allow"

            """
        try await AgentProcessFixture.with(rules: rules) { f in
            let agent = try await f.agent()
            _ = try await Self.requestThatIsNotKept(f)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func givesThePageToAppsThatAskForIt() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let request = AcquireTokenSilent(parameters: try f.parameters(), account: account)
            for wants in [true, false] {
                let reply = try await RawHello(f, wants: wants, request).reply
                #expect(reply.descriptors == (wants ? 1 : 0))
                #expect((reply.result.freshness != nil) == wants)
            }
            withExtendedLifetime(agent) {}
        }
    }

    #if os(Linux)
        /// The page would show a sandboxed app when other apps sign in.
        @Test(.enabled(if: Sandbox.isPossible, "only root can make a sandbox"))
        func givesNoPageToASandboxedApp() async throws {
            let rules = """
                [[rule]]
                app = "flatpak:org.contoso.Notes"
                client_ids = ["app-1"]
                requests = ["own"]
                effect = "allow"
                [[rule]]
                class = "sandboxed"
                requests = ["all"]
                effect = "deny"
                [[rule]]
                requests = ["all"]
                effect = "allow"

                """
            try await AgentProcessFixture.with(rules: rules) { f in
                let agent = try await f.agent()
                let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
                let request = AcquireTokenSilent(parameters: try f.parameters(), account: account)
                // The same bytes as those of an app to which the agent has told the times.
                #expect(try await RawHello(f, wants: true, request).reply.result.freshness != nil)
                for _ in 0..<2 {
                    let reply = try await RawHello(f, wants: true, request, isSandboxed: true).reply
                    #expect(reply.descriptors == 0)
                    #expect(reply.result.freshness == nil && reply.result.isFromCache)
                }
                #expect(try await RawHello(f, wants: true, request).reply.result.freshness != nil)
                withExtendedLifetime(agent) {}
            }
        }
    #endif
}

/// Another process, which introduces itself, sends a silent request, and prints what has come with the replies.
private struct RawHello {
    let reply: (descriptors: Int, result: TokenResult)

    init(
        _ f: AgentProcessFixture, wants: Bool, _ request: AcquireTokenSilent, isSandboxed: Bool = false
    ) async throws {
        var hello = Hello(appName: "raw")
        hello.acceptsPage = wants
        var request = request
        request.wantsFreshness = wants
        let frames = try [RequestFrame.encode(hello, id: 1), RequestFrame.encode(request, id: 2)].map { frame in
            frame.hex
        }
        let command = ["python3", "-c", Self.script, f.socketPath] + frames
        let ended: (status: Int32, output: String, errors: String)
        if isSandboxed {
            let sandbox = try Sandbox.run(
                info: "[Application]\nname=org.contoso.Notes\n", folders: [f.folder.path], environment: f.environment,
                ["/usr/bin/env"] + command)
            ended = try await sandbox.finish()
        } else {
            ended = try await TestProcess("/usr/bin/env", command, environment: f.environment).finish()
        }
        let words = ended.output.split(whereSeparator: \.isWhitespace)
        try #require(words.count == 2, "\(ended.errors)")
        let bytes = try words[1].split(separator: ",").map { try #require(UInt8($0)) }
        let frame = try ReplyFrame(decoding: bytes.dropFirst(FrameDecoder.headerLength))
        reply = (try #require(Int(words[0])), try frame.reply(to: AcquireTokenSilent.self))
    }

    private static let script = """
        from socket import AF_UNIX, recv_fds, socket
        from sys import argv
        connection = socket(AF_UNIX)
        connection.connect(argv[1])
        connection.sendall(bytes.fromhex(argv[2]))
        data, descriptors, flags, address = recv_fds(connection, 65536, 8)
        connection.sendall(bytes.fromhex(argv[3]))
        print(len(descriptors), ",".join(str(byte) for byte in connection.recv(65536)))
        """
}
