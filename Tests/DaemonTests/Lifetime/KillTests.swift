internal import AgentClient
internal import AgentTestSupport
internal import Dispatch
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// SIGKILL at any moment: every reply of the agent holds after its restart.
@Suite(.boundedLong) struct KillTests {
    @Test(arguments: 0..<KillRun.lanes)
    func keepsItsRepliesTrueWhenItIsKilled(lane: Int) async throws {
        let seed = TestSeed(TestSeed().seed &+ UInt64(lane) &* 7919)
        try await AgentProcessFixture.with { f in
            var run = try KillRun(f, seed)
            for round in 0..<KillRun.rounds { try await run.round(round) }
            #expect(run.replies > KillRun.rounds, "the load made too few requests")
        }
    }
}

/// Rounds of requests for some accounts, in each of which the agent is killed, with the replies so far.
private struct KillRun {
    /// The number of concurrent series of rounds: one works while the other waits for a process.
    static let lanes = 2
    /// The rounds of a lane; those of all lanes together are 60, or `SSO_AGENT_ROUNDS`.
    static var rounds: Int {
        (ProcessInfo.processInfo.environment["SSO_AGENT_ROUNDS"].flatMap { Int($0) } ?? 60) / lanes
    }

    /// The state of an account after the last reply, and the request without a reply.
    private struct Knowledge: Sendable {
        var token: Secret?
        var pending: Step?
        /// Whether the response to a refresh may have been lost, so that the refresh token may have been redeemed.
        var isDoubtful = false
        /// Whether the agent has reported that.
        var isLost = false
    }

    private enum Step: CaseIterable, Sendable {
        case signIn
        case renew
        case remove
    }

    private let f: AgentProcessFixture
    private let parameters: TokenParameters
    private var seed: TestSeed
    private var accounts: [String: Knowledge]
    /// The number of replies.
    private(set) var replies = 0

    init(_ f: AgentProcessFixture, _ seed: TestSeed) throws {
        self.f = f
        self.seed = seed
        parameters = try f.parameters()
        accounts = Dictionary(uniqueKeysWithValues: (1...4).map { ("user\($0)@contoso.com", Knowledge()) })
    }

    mutating func round(_ number: Int) async throws {
        let agent = try await f.agent()
        let client = AgentClient(socketPath: f.socketPath)
        let comment = "round \(number) of the lane with \(seed)"
        for name in accounts.keys.sorted() {
            try await check(name, client, comment)
            // Some accounts are signed in before the load, since a sign-in takes longer than most agents run.
            guard accounts[name]?.token == nil, Bool.random(using: &seed) else { continue }
            accounts[name] = Knowledge(token: try await perform(.signIn, name, client))
            replies += 1
        }
        try await load(agent, client)
    }

    /// Sends requests for every account until the agent is killed.
    private mutating func load(_ agent: RunningAgent, _ client: AgentClient) async throws {
        let (expected, delay) = (Int.random(in: 0..<6, using: &seed), Int.random(in: 0..<20_000, using: &seed))
        let (events, continuation) = AsyncStream<Event>.makeStream()
        let ended: [(String, Knowledge, Int)] = await withTaskGroup { group in
            for (name, knowledge) in accounts {
                let (taskSeed, run) = (TestSeed(seed.next()), self)
                group.addTask { await run.work(name, knowledge, client, taskSeed, continuation) }
            }
            await Self.wait(for: expected, accounts.count, events)
            await withCheckedContinuation { done in
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { done.resume() }
            }
            agent.process.signal(SIGKILL)
            // The requests without a reply were sent to the killed process.
            group.cancelAll()
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await agent.process.killHard()
        for (name, knowledge, count) in ended {
            accounts[name] = knowledge
            replies += count
        }
    }

    private enum Event: Sendable {
        case reply
        case end
    }

    /// Returns after a number of replies, or when no task sends requests any more.
    private static func wait(for replies: Int, _ tasks: Int, _ events: AsyncStream<Event>) async {
        var (replies, tasks) = (replies, tasks)
        guard replies > 0 else { return }
        for await event in events {
            switch event {
            case .reply: replies -= 1
            case .end: tasks -= 1
            }
            if replies == 0 || tasks == 0 { return }
        }
    }

    private func work(
        _ name: String, _ before: Knowledge, _ client: AgentClient, _ seed: TestSeed,
        _ events: AsyncStream<Event>.Continuation
    ) async -> (String, Knowledge, Int) {
        var (knowledge, seed, count) = (before, seed, 0)
        defer { events.yield(.end) }
        while true {
            let step: Step =
                knowledge.token == nil ? .signIn : Int.random(in: 0..<8, using: &seed) == 0 ? .remove : .renew
            knowledge.pending = step
            do {
                knowledge = Knowledge(token: try await perform(step, name, client))
                count += 1
                events.yield(.reply)
            } catch {
                // A refusal is a reply too, and is right only if a response may have been lost.
                let isRefusal = (error as? TokenError)?.code == .interactionRequired
                if isRefusal { #expect(knowledge.isDoubtful, "\(name): \(error)") }
                knowledge.isLost = isRefusal
                return (name, knowledge, count)
            }
        }
    }

    private func perform(_ step: Step, _ name: String, _ client: AgentClient) async throws -> Secret? {
        let account = AccountReference(username: name)
        switch step {
        case .signIn:
            let begun = try await client.beginInteractive(BeginInteractive(parameters: parameters, loginHint: name))
            _ = try await WebClient.browse(to: begun.authorizationURL)
            return try await client.completeInteractive(CompleteInteractive(sessionID: begun.sessionID)).accessToken
        case .renew:
            return try await client.acquireTokenSilent(
                AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true)
            ).accessToken
        case .remove:
            _ = try await client.removeAccount(
                RemoveAccount(clientID: parameters.clientID, account: account, extent: .account))
            return nil
        }
    }

    /// Compares the replies of the new agent with those of the old one.
    private mutating func check(_ name: String, _ client: AgentClient, _ comment: String) async throws {
        guard let known = accounts[name] else { return }
        let comment = "\(name), \(known.pending.map { "\($0) in progress" } ?? "no request in progress"), \(comment)"
        let cached = try? await silent(name, client, force: false)
        switch (known.token, known.pending) {
        case (let token?, nil): #expect(cached == token, "\(comment)")
        case (nil, nil): #expect(cached == nil, "\(comment)")
        case (let token?, .remove): #expect(cached == nil || cached == token, "\(comment)")
        case (_?, _): #expect(cached != nil, "\(comment)")
        case (nil, _): break
        }
        let isDoubtful = known.isDoubtful || known.pending == .renew
        accounts[name] = Knowledge(token: cached, isDoubtful: isDoubtful, isLost: known.isLost)
        guard cached != nil, Bool.random(using: &seed) else { return }
        do {
            accounts[name] = Knowledge(token: try await silent(name, client, force: true))
        } catch let error as TokenError {
            // The refresh token is the latest one, unless a response was lost, which the agent then reports.
            #expect(isDoubtful && error.code == .interactionRequired, "\(comment): \(error.message)")
            // A refresh token that may have been redeemed may have been refused and removed just before the kill.
            let isReported = known.isLost || known.isDoubtful
            #expect(isReported || error.message.contains("no answer came"), "\(comment): \(error.message)")
            _ = try await perform(.remove, name, client)
            accounts[name] = Knowledge()
        }
    }

    private func silent(_ name: String, _ client: AgentClient, force: Bool) async throws -> Secret {
        try await client.acquireTokenSilent(
            AcquireTokenSilent(
                parameters: parameters, account: AccountReference(username: name), forceRefresh: force)
        ).accessToken
    }
}
