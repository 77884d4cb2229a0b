internal import AgentSocket
internal import CAgentSystem
internal import Synchronization
internal import TokenModel

/// The results of silent hits that this process keeps, so that a repeated request needs no round trip.
///
/// A result is returned only while the agent, if it were asked, would give the same one, and never after a change of it was
/// acknowledged to any app (docs/coherence.md):
///
/// | condition | checked by |
/// |---|---|
/// | nothing has changed that the answer depends on, since before the request was sent | `NotedGenerations` |
/// | the agent lives, and the connection to it is open | `NotedGenerations`, `drop` |
/// | the time is one at which the agent would decide the same | `Entry.stands` |
/// | the request is equal to the one that was answered | `AcquireTokenSilent.isRepeated` |
///
/// Safe to use from any thread. The lock is held while a reference is copied, or a result is added. In a copy (`fork`) of the process nothing
/// is kept, and the lock is not taken: another thread may have held it when the process was copied.
final class KeptResults: Sendable {
    /// The kept results at one time. Immutable, so that it is searched without the lock.
    private struct Table: Sendable {
        var page: GenerationPageView?
        /// The oldest first.
        var entries: [Entry] = []
    }

    /// The result of a request.
    private final class Entry: Sendable {
        let request: AcquireTokenSilent
        let hash: Int
        let result: TokenResult
        let generations: NotedGenerations
        /// When the agent would give this result, by the clock.
        let times: ClosedRange<Int64>
        /// The end of the time for which it is kept, by a monotonic clock.
        let end: Int64
        /// The memory that is counted, in bytes.
        let size: Int

        init(
            _ request: AcquireTokenSilent, _ result: TokenResult, _ generations: NotedGenerations,
            _ times: ClosedRange<Int64>, at now: agent_times
        ) {
            self.request = request
            self.result = result
            self.generations = generations
            self.times = times
            hash = request.repetitionHash
            end = now.uptime + min(times.upperBound - now.wall, KeptResults.longestLife)
            size = result.size + KeptResults.overhead
        }

        func stands(at now: agent_times) -> Bool {
            times.contains(now.wall) && now.uptime <= end && generations.areCurrent
        }
    }

    private let table = Mutex(Table())
    private let clock: (@Sendable () -> Int64)?

    /// - Parameter clock: the time in seconds since 1970; nil is the system's clock.
    init(clock: (@Sendable () -> Int64)? = nil) {
        self.clock = clock
    }

    // MARK: The connection

    /// Begins to keep results, with the page of a new connection.
    func attach(descriptor: Int32) {
        let page = GenerationPageView(descriptor: descriptor)
        let old = table.withLock { table in
            defer { table = Table(page: page) }
            return table
        }
        // Released without the lock.
        _ = consume old
    }

    /// Discards everything, since the connection is closed: the next one may lead to another agent.
    func drop() {
        let old = table.withLock { table in
            defer { table = Table() }
            return table
        }
        _ = consume old
    }

    // MARK: Requests

    /// Returns the kept result of an equal request, with the correlation ID of this one; nil if the agent has to be asked.
    func result(for request: AcquireTokenSilent) -> TokenResult? {
        guard agent_is_copied_process() == 0 else { return nil }
        let entries = table.withLock { $0.entries }
        guard !entries.isEmpty, request.isKeepable else { return nil }
        // Most apps have one entry, or few: a hash would cost more than the comparison.
        let hash = entries.count > Self.comparedLimit ? request.repetitionHash : nil
        for entry in entries where entry.hash == hash ?? entry.hash && entry.request.isRepeated(by: request) {
            guard entry.stands(at: now) else {
                discard(entry)
                return nil
            }
            var result = entry.result
            result.correlationID = request.parameters.correlationID
            return result
        }
        return nil
    }

    /// Reads the generations that the answer to a request depends on, before it is sent; nil if its result is not to be kept.
    func generations(for request: AcquireTokenSilent) -> NotedGenerations? {
        guard agent_is_copied_process() == 0, request.isKeepable, let page = table.withLock({ $0.page }), page.isValid
        else { return nil }
        let slot = GenerationSlot.of(request.account.homeAccountID, in: request.parameters.sharingGroup)
        return NotedGenerations(page, slot: slot)
    }

    /// Keeps a result, if the agent allows it.
    ///
    /// - Parameter generations: those from before the request was sent.
    func keep(_ result: TokenResult, for request: AcquireTokenSilent, since generations: NotedGenerations) {
        let now = now
        guard let times = result.freshness, times.contains(now.wall), times.lowerBound >= 0 else { return }
        var kept = result
        kept.freshness = nil
        let entry = Entry(request, kept, generations, times, at: now)
        guard entry.size <= Self.entryLimit else { return }
        let old = table.withLock { table -> [Entry] in
            // The connection may be another one by now.
            guard table.page === generations.page else { return [] }
            let old = table.entries
            table.entries.removeAll {
                $0.hash == entry.hash && $0.request.isRepeated(by: request) || !$0.stands(at: now)
            }
            table.entries.append(entry)
            while table.entries.count > Self.countLimit || table.entries.reduce(0, { $0 + $1.size }) > Self.sizeLimit {
                table.entries.removeFirst()
            }
            return old
        }
        _ = consume old
    }

    private func discard(_ entry: Entry) { table.withLock { $0.entries.removeAll { $0 === entry } } }

    private var now: agent_times {
        var times = agent_read_times()
        if let clock { times.wall = clock() }
        return times
    }

    /// The number of entries up to which every one is compared.
    private static let comparedLimit = 4
    /// The largest number of kept results; more than an app has in use.
    private static let countLimit = 64
    /// The memory of all kept results, in bytes.
    private static let sizeLimit = 512 << 10
    /// The memory of one kept result, in bytes; most have a few thousand.
    private static let entryLimit = 64 << 10
    /// The memory of an entry besides its texts, in bytes.
    private static let overhead = 2048
    /// The longest time for which a result is kept, in seconds.
    private static let longestLife: Int64 = 86_400
}

extension AcquireTokenSilent {
    /// Whether the result may be kept at all: a request that bypasses the cache in the agent bypasses this one too.
    fileprivate var isKeepable: Bool { !forceRefresh && parameters.claims == nil }

    /// A hash of what usually differs between the requests of one app.
    fileprivate var repetitionHash: Int {
        var hasher = Hasher()
        hasher.combine(account.homeAccountID?.text ?? account.username ?? "")
        if let scope = parameters.scopes.scopes.first { hasher.combine(scope) }
        return hasher.finalize()
    }

    /// Whether `request` is this one again: equal byte by byte, except for the correlation ID and the form of the reply, which do not decide
    /// the answer. Scopes in another order or case make it another request, although the agent gives most of them the same answer.
    func isRepeated(by request: AcquireTokenSilent) -> Bool {
        forceRefresh == request.forceRefresh && expirationBuffer == request.expirationBuffer
            && allowsExtendedLifetime == request.allowsExtendedLifetime
            && parameters.areRepeated(by: request.parameters) && account.hasSameBytes(as: request.account)
    }
}

extension AccountReference {
    fileprivate func hasSameBytes(as other: AccountReference) -> Bool {
        let (identifier, otherIdentifier) = (homeAccountID?.text, other.homeAccountID?.text)
        return identifier.hasSameBytes(as: otherIdentifier) && username.hasSameBytes(as: other.username)
    }
}

extension TokenResult {
    /// The length of its texts, in bytes.
    fileprivate var size: Int {
        let texts = [idToken, account.homeIDToken, tenantProfile?.idToken, account.username, authority]
        return accessToken.count + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
            + scopes.reduce(0) { $0 + $1.utf8.count + 16 }
    }
}
