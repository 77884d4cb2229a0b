internal import Synchronization
internal import TokenModel

/// Requests for the records of one account, which are answered while the store is being loaded: between two batches of
/// records, the thread that loads looks for those that have the account's tag, and opens them before all others.
///
/// Each record is authenticated by itself. Whether one was replaced by an earlier version, removed or restored is known
/// only when every record has been read. Until then, a caller uses the records only for answers that a later report of
/// damage does not change.
final class EarlyReads: Sendable {
    typealias Answer = CheckedContinuation<[StoredRecord]?, Never>
    private typealias Waiting = (account: String, group: String, answer: Answer)

    private struct State {
        /// The number of loads that have begun and not ended.
        var loads = 0
        var waiting: [Waiting] = []
        /// The number of times that requests were answered since the first of the loads began.
        var reads = 0
    }

    private let state = Mutex(State())

    /// Whether a load is in progress.
    var isOpen: Bool { state.withLock { $0.loads > 0 } }

    /// The number of requests that wait.
    var count: Int { state.withLock(\.waiting.count) }

    /// Called before a load, in which requests may wait.
    func begin() {
        state.withLock { state in
            if state.loads == 0 { state.reads = 0 }
            state.loads += 1
        }
    }

    /// Called after the load: requests that wait have no answer.
    func end() {
        let waiting = state.withLock { state in
            state.loads -= 1
            guard state.loads == 0 else { return [] as [Waiting] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in waiting { request.answer.resume(returning: nil) }
    }

    /// Returns the records of an account, the records that every account needs, and those without a known account; also
    /// some of other accounts. Nil if no load is in progress, or they cannot be read before the load ends.
    func records(of account: String, in group: String) async -> [StoredRecord]? {
        await withCheckedContinuation { answer in
            let isLoading = state.withLock { state in
                if state.loads > 0 { state.waiting.append((account, group, answer)) }
                return state.loads > 0
            }
            if !isLoading { answer.resume(returning: nil) }
        }
    }

    /// Answers the requests that wait. Called by the thread that uses the database.
    func serve(_ database: StoreDatabase, _ keys: StoreKeys.Derived) {
        let waiting = state.withLock { state in
            // Each read looks at every row. Later requests wait for the load, which they must not delay.
            guard !state.waiting.isEmpty, state.reads < Self.maximumReads else { return [] as [Waiting] }
            state.reads += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        guard !waiting.isEmpty else { return }
        let tags = Set(waiting.map { AccountTag($0.account, in: $0.group, keys) } + [.everyAccount])
        let sealed = (try? database.records(with: tags, limit: Self.limit)) ?? nil
        let records = sealed.map { $0.map { $0.open(keys)?.record } }
        for request in waiting {
            let tags: Set = [AccountTag(request.account, in: request.group, keys), .everyAccount]
            guard let sealed, let records else {
                request.answer.resume(returning: nil)
                continue
            }
            let asked = zip(sealed, records).filter { sealed, _ in sealed.tag.map(tags.contains) ?? true }.map(\.1)
            // A record that cannot be opened may be one of the account's.
            let isWhole = !asked.contains { $0 == nil }
            request.answer.resume(returning: isWhole ? asked.compactMap(\.self) : nil)
        }
    }

    /// The maximum number of records that are opened: with more, the load is hardly slower.
    private static let limit = 4096
    /// The number of times that requests are answered during a load. Those that wait at the same time are answered together.
    static let maximumReads = 8
}
