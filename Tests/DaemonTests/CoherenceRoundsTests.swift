internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

/// Kept results, while another process saves and removes tokens in many rounds, and the agent is killed in between.
///
/// In each round the other process imports a token, whose text is the number of the round, and in two of three rounds it then signs
/// out. A request that is made after one of these changes was acknowledged must not return an earlier token.
@Suite(.boundedLong) struct CoherenceRoundsTests {
    /// 1,000 by default, or `SSO_AGENT_COHERENCE_ROUNDS`.
    private static let rounds =
        ProcessInfo.processInfo.environment["SSO_AGENT_COHERENCE_ROUNDS"].flatMap { Int($0) } ?? 1000

    @Test func returnsNoTokenFromBeforeAnAcknowledgedChange() async throws {
        try await AgentProcessFixture.with { f in
            var agent: RunningAgent? = try await f.agent()
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            let (cache, file) = (f.folder.file("cache.json"), f.folder.file("progress"))
            let exported = try await AgentClient(socketPath: f.socketPath).exportCache(.msalJSON, includesSecrets: true)
            try exported.reveal().write(toFile: cache, atomically: false, encoding: .utf8)
            try await agent?.process.killHard()
            agent = nil
            let killer = AgentKiller(try Progress(file), pause: max(min(Self.rounds / 8, 4000), 1))
            let asker = Asker(
                progress: try Progress(file), client: AgentClient(socketPath: f.socketPath),
                request: AcquireTokenSilent(parameters: parameters, account: account), killer: killer)
            async let tallies = [asker.run(), asker.run()]
            async let agents: Void = killer.runAgents(of: f)
            await #expect(processExitsWith: .success) {
                [
                    path = f.socketPath as String, cache = cache as String, file = file as String,
                    rounds = Self.rounds as Int
                ] in
                let changer = try Changer(socketPath: path, cache: cache, Progress(file))
                for round in 1...rounds { try await changer.change(round) }
            }
            killer.end()
            try await agents
            let asked = await tallies
            #expect(asked.flatMap(\.violations).isEmpty)
            let kept = asked.reduce(0) { $0 + $1.kept }
            #expect(kept > Self.rounds / 2)
            print(
                "\(Self.rounds) rounds, \(killer.count) kills, \(kept) kept results, "
                    + "\(asked.reduce(0) { $0 + $1.answers }) answers of agents")
        }
    }
}

/// What the processes tell each other, in memory that they share: read and written by atomic operations, and mapped until they end.
private struct Progress: @unchecked Sendable {
    enum Number: Int {
        /// The round whose token was saved last, as acknowledged.
        case saved
        /// The round of the last sign-out, as acknowledged.
        case signedOut
        /// The last round whose token an app has used again.
        case kept
        /// 1 when there are no more rounds.
        case isDone
    }

    private let memory: UnsafeMutableRawPointer

    init(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, ftruncate(descriptor, 4096) == 0,
            let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
        else { throw POSIXError(.EIO) }
        self.memory = memory
    }

    subscript(number: Number) -> Int {
        get { place(of: number).pointee.load(ordering: .sequentiallyConsistent) }
        nonmutating set { place(of: number).pointee.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Each number has a cache line of its own.
    private func place(of number: Number) -> UnsafeMutablePointer<Atomic<Int>> {
        (memory + 64 * number.rawValue).assumingMemoryBound(to: Atomic<Int>.self)
    }
}

/// The process that changes what is cached.
private struct Changer {
    private let client: AgentClient
    private let progress: Progress
    /// A cache in the format of MSAL, cut at the text and the times of its access token.
    private let parts: [Substring]
    private let removal: RemoveAccount

    init(socketPath: String, cache path: String, _ progress: Progress) throws {
        client = AgentClient(socketPath: socketPath)
        self.progress = progress
        let data = try Data(contentsOf: URL(filePath: path))
        var cache = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Any]]])
        let (key, token) = try #require(cache["AccessToken"]?.first)
        let changes = ["secret": "CUT", "cached_at": "CUT", "expires_on": "CUT", "extended_expires_on": "CUT"]
        cache["AccessToken"] = [key: token.merging(changes) { $1 }]
        let cut = try JSONSerialization.data(withJSONObject: cache, options: .sortedKeys)
        parts = String(decoding: cut, as: UTF8.self).split(separator: "CUT")
        let account = try #require(token["home_account_id"] as? String)
        removal = RemoveAccount(
            clientID: try #require(ClientID("app-1")), account: AccountReference(homeAccountID: HomeAccountID(account)),
            extent: .account)
    }

    func change(_ round: Int) async throws {
        // In the order of the keys: cached_at, expires_on, extended_expires_on, secret. Later tokens are those of later rounds.
        let now = Int(Date().timeIntervalSince1970)
        let values = ["\(now)", "\(now + 90_000 + round)", "\(now + 90_000 + round)", "\(round)", ""]
        let cache = Secret(zip(parts, values).map { $0 + $1 }.joined())
        try await untilAcknowledged { _ = try await client.importCache(cache, format: .msalJSON) }
        progress[.saved] = round
        // Mostly until an app keeps the token: otherwise the change ends nothing.
        if !round.isMultiple(of: 8) { while progress[.kept] < round, progress[.isDone] == 0 { sched_yield() } }
        guard !round.isMultiple(of: 3) else { return }
        try await untilAcknowledged { _ = try await client.removeAccount(removal) }
        progress[.signedOut] = round
    }

    /// Repeats a change while the agent is killed and started again.
    private func untilAcknowledged(_ change: () async throws -> Void) async throws {
        while true {
            do { return try await change() } catch let error as TokenError where error.code == .agentUnavailable {
                guard progress[.isDone] == 0 else { throw error }
            }
        }
    }
}

/// An app that asks for a token all the time.
private struct Asker: Sendable {
    struct Tally {
        var kept = 0
        var answers = 0
        var violations: [String] = []
    }

    let progress: Progress
    let client: AgentClient
    let request: AcquireTokenSilent
    let killer: AgentKiller

    @concurrent func run() async -> Tally {
        defer { progress[.isDone] = 1 }
        var tally = Tally()
        while progress[.isDone] == 0, tally.violations.count < 10 {
            // Read before the request is made.
            let (saved, signedOut) = (progress[.saved], progress[.signedOut])
            killer.killIfDue(saved)
            do throws(TokenError) {
                let kept = client.keptResult(for: request)
                let result = if let kept { kept } else { try await client.acquireTokenSilent(request) }
                // The token of the sign-in before the first round is no number.
                let round = Int(result.accessToken.reveal()) ?? 0
                if round < saved || round <= signedOut && round > 0 {
                    let origin = kept == nil ? "the agent" : "what is kept"
                    tally.violations.append(
                        "token \(round) of \(origin) after \(saved) was saved, \(signedOut) removed")
                }
                if kept != nil {
                    tally.kept += 1
                    if progress[.kept] < round { progress[.kept] = round }
                } else {
                    tally.answers += 1
                }
            } catch {
                let isExpected = [.interactionRequired, .accountNotFound, .agentUnavailable].contains(error.code)
                if !isExpected { tally.violations.append("\(error)") }
            }
        }
        return tally
    }
}

/// Kills the agent again and again, in the midst of the requests.
private final class AgentKiller: Sendable {
    private struct State {
        var process: TestProcess?
        /// The round from which on the agent is killed.
        var due: Int
        var count = 0
    }

    private let state: Mutex<State>
    private let progress: Progress
    private let pause: Int

    /// - Parameter pause: the mean number of rounds between two kills.
    init(_ progress: Progress, pause: Int) {
        state = Mutex(State(due: pause))
        self.progress = progress
        self.pause = pause
    }

    var count: Int { state.withLock(\.count) }

    func killIfDue(_ round: Int) {
        state.withLock { state in
            guard round >= state.due, let process = state.process else { return }
            process.signal(SIGKILL)
            state.process = nil
            state.count += 1
            state.due = round + Int.random(in: 1...2 * pause)
        }
    }

    /// Starts an agent, and another one after each kill, until there are no more rounds.
    func runAgents(of f: AgentProcessFixture) async throws {
        defer { progress[.isDone] = 1 }
        while progress[.isDone] == 0 {
            let agent = try await f.agent()
            state.withLock { $0.process = agent.process }
            if progress[.isDone] == 1 { return }
            _ = try await agent.process.finish()
            withExtendedLifetime(agent) {}
        }
    }

    /// Ends the agent and the requests.
    func end() {
        progress[.isDone] = 1
        state.withLock { $0.process?.signal(SIGKILL) }
    }
}
