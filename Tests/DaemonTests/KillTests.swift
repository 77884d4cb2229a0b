internal import AgentClient
internal import AgentTestSupport
internal import Dispatch
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// kill -9 at any moment: whatever an app was told is still so afterwards.
@Suite(.boundedLong) struct KillTests {
    @Test(arguments: 0..<KillRun.lanes)
    func keepsWhatAppsWereToldWhenTheAgentIsKilled(lane: Int) async throws {
        let seed = TestSeed(TestSeed().seed &+ UInt64(lane) &* 7919)
        try await AgentProcessFixture.with { f in
            var run = try KillRun(f, seed)
            for round in 0..<KillRun.rounds { try await run.round(round) }
            #expect(run.told > KillRun.rounds, "the load did next to nothing")
        }
    }
}

/// Some accounts under load, an agent that is killed, and what was said meanwhile.
private struct KillRun {
    /// Rounds run beside each other, so that one lane works while another waits for a process.
    static let lanes = 2
    /// 60 in all; `SSO_AGENT_ROUNDS` asks for more.
    static var rounds: Int {
        (ProcessInfo.processInfo.environment["SSO_AGENT_ROUNDS"].flatMap { Int($0) } ?? 60) / lanes
    }

    /// What an app last heard of an account, and what it asked for and did not hear of.
    private struct Knowledge: Sendable {
        var token: Secret?
        var pending: Step?
        /// Whether the answer to a renewal may have been lost, so that the refresh token may be used up.
        var isDoubtful = false
        /// Whether it was found to be.
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
    /// How many answers there were.
    private(set) var told = 0

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
            // Some sign in before the clock runs: it takes longer than most agents live.
            guard accounts[name]?.token == nil, Bool.random(using: &seed) else { continue }
            accounts[name] = Knowledge(token: try await take(.signIn, name, client))
            told += 1
        }
        try await load(agent, client)
    }

    /// Every account is asked about until the agent is gone.
    private mutating func load(_ agent: RunningAgent, _ client: AgentClient) async throws {
        let (answers, patience) = (Int.random(in: 0..<6, using: &seed), Int.random(in: 0..<20_000, using: &seed))
        let (news, teller) = AsyncStream<News>.makeStream()
        let ended: [(String, Knowledge, Int)] = await withTaskGroup { group in
            for (name, knowledge) in accounts {
                let (chance, ask) = (TestSeed(seed.next()), self)
                group.addTask { await ask.work(name, knowledge, client, chance, teller) }
            }
            await Self.wait(for: answers, accounts.count, news)
            await withCheckedContinuation { done in
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(patience)) { done.resume() }
            }
            agent.process.signal(SIGKILL)
            // What still waits, waits for a dead process.
            group.cancelAll()
            return await group.reduce(into: []) { $0.append($1) }
        }
        try await agent.process.killHard()
        for (name, knowledge, count) in ended {
            accounts[name] = knowledge
            told += count
        }
    }

    private enum News: Sendable {
        case answer
        case end
    }

    /// Returns after so many answers, or when nobody asks any more.
    private static func wait(for answers: Int, _ asking: Int, _ news: AsyncStream<News>) async {
        var (answers, asking) = (answers, asking)
        guard answers > 0 else { return }
        for await event in news {
            switch event {
            case .answer: answers -= 1
            case .end: asking -= 1
            }
            if answers == 0 || asking == 0 { return }
        }
    }

    private func work(
        _ name: String, _ before: Knowledge, _ client: AgentClient, _ chance: TestSeed,
        _ news: AsyncStream<News>.Continuation
    ) async -> (String, Knowledge, Int) {
        var (knowledge, chance, count) = (before, chance, 0)
        defer { news.yield(.end) }
        while true {
            let step: Step =
                knowledge.token == nil ? .signIn : Int.random(in: 0..<8, using: &chance) == 0 ? .remove : .renew
            knowledge.pending = step
            do {
                knowledge = Knowledge(token: try await take(step, name, client))
                count += 1
                news.yield(.answer)
            } catch {
                // That is an answer too, and only the doubtful may hear it.
                let isRefusal = (error as? TokenError)?.code == .interactionRequired
                if isRefusal { #expect(knowledge.isDoubtful, "\(name): \(error)") }
                knowledge.isLost = isRefusal
                return (name, knowledge, count)
            }
        }
    }

    private func take(_ step: Step, _ name: String, _ client: AgentClient) async throws -> Secret? {
        let account = AccountReference(username: name)
        switch step {
        case .signIn:
            let begun = try await client.beginInteractive(BeginInteractive(parameters: parameters, loginHint: name))
            try await WebBrowser.open(begun.authorizationURL)
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

    /// What the new agent says, against what the old one did.
    private mutating func check(_ name: String, _ client: AgentClient, _ comment: String) async throws {
        guard let known = accounts[name] else { return }
        let comment = "\(name), \(known.pending.map { "\($0) under way" } ?? "nothing under way"), \(comment)"
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
            // The refresh token is the last one, unless an answer was under way; and then that is what is said.
            #expect(isDoubtful && error.code == .interactionRequired, "\(comment): \(error.message)")
            // A doubtful one may have been refused, and removed, in the moment before the kill.
            let isHeard = known.isLost || known.isDoubtful
            #expect(isHeard || error.message.contains("the agent stopped"), "\(comment): \(error.message)")
            _ = try await take(.remove, name, client)
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
