internal import AccessPolicy
internal import AuditLog
internal import TokenCache
internal import TokenModel
internal import TokenWire

/// The packed replies of cache hits, for requests that are repeated.
///
/// A reply is kept only while a new decision would give the same answer: its conditions are everything that the decision depends on
/// besides the request's bytes, which are compared. The time (the token is valid, not about to expire, and need not be renewed) is
/// checked for each request; whoever changes another condition has the replies discarded: `AnswerChanges` has the list.
///
/// What concerns the peer is no condition, and is decided for each request: `CacheOwner.keptReply`.
///
/// All replies together have a limit of memory. When it is reached, the process that keeps most loses the reply that it has used
/// longest ago: a process that keeps less than its equal share loses nothing to others.
///
/// Used on the actor of `CacheOwner` only.
final class KeptReplies {
    /// What an answer depends on besides the request.
    struct Conditions: Sendable {
        var group: SharingGroup
        /// The account of the request, whichever provider's it is; nil for a request by username, or that names no account: which
        /// one it refers to depends on all accounts of the group.
        var account: HomeAccountID?
        /// The host of the request's authority.
        var host: String
        var times: ClosedRange<Int64>
    }

    /// What is known of a reply when it is kept.
    struct Entry: Sendable {
        let conditions: Conditions
        /// The request as the access policy sees it.
        let asked: PolicyRequest
        /// The audit log's event, without its peer and its time; nil if there is no log.
        let event: AuditEvent?
        /// Whether the reply says until when it may be kept.
        var hasFreshness = false
    }

    /// A kept reply, and the request that it answers again.
    struct Hit: Sendable {
        let entry: Entry
        fileprivate let reply: PackedReply
        fileprivate let request: SilentRequestLayout
        /// The length of the reply's frame.
        let length: Int

        /// Writes the frame of the reply.
        ///
        /// - Parameter frame: the request's, without its length.
        func write(replyingTo frame: ArraySlice<UInt8>, to target: UnsafeMutableRawBufferPointer) {
            frame.withUnsafeBytes { reply.write(replyingTo: request, $0, to: target) }
        }
    }

    private final class Kept {
        let entry: Entry
        /// The request's frame without its IDs.
        let request: [UInt8]
        let reply: PackedReply
        var keeper: Keeper
        /// The number of the last use.
        var lastUse: UInt64 = 0

        init(_ entry: Entry, _ request: [UInt8], _ reply: PackedReply, _ keeper: Keeper) {
            self.entry = entry
            self.request = request
            self.reply = reply
            self.keeper = keeper
        }

        /// The memory that is counted, in bytes.
        var size: Int { request.count + reply.count + KeptReplies.overhead }
    }

    /// A process that keeps replies, or all of those that have ended.
    private final class Keeper {
        /// A use of the reply with this hash. It is outdated if the reply has been used again, or discarded.
        typealias Use = (hash: Int, number: UInt64)

        /// The bytes that are kept.
        var bytes = 0
        /// The uses of the replies, in order; the one that was used longest ago is the first that is not outdated.
        var uses: [Use] = []
        /// The number of uses from which on outdated ones are removed.
        var roomForUses = 64
    }

    /// By the hash of the request's frame without its IDs. Of two requests with the same hash, the later one is kept.
    private var replies: [Int: Kept] = [:]
    private var keepers: [PeerKey: Keeper] = [:]
    private let ended = Keeper()
    /// The bytes that are kept.
    private(set) var size = 0
    /// The number of replies.
    var count: Int { replies.count }
    private var useCount: UInt64 = 0
    private let limit: Int

    /// - Parameter limit: the bytes of all replies. The default leaves half of the locked memory to tokens; see `SecretMemory`.
    init(limit: Int = 512 << 10) {
        self.limit = limit
    }

    /// Returns the kept reply to a request.
    ///
    /// - Parameter frame: the request's, without its length.
    func hit(_ frame: ArraySlice<UInt8>, at now: Int64) -> Hit? {
        guard !replies.isEmpty, frame.count <= Self.requestLimit else { return nil }
        return frame.withUnsafeBytes { bytes in
            guard let request = SilentRequestLayout(bytes) else { return nil }
            let hash = request.hash(of: bytes)
            guard let kept = replies[hash], kept.entry.conditions.times.contains(now),
                request.isEqual(bytes, to: kept.request)
            else { return nil }
            noteUse(of: kept, hash)
            return Hit(
                entry: kept.entry, reply: kept.reply, request: request,
                length: kept.reply.length(replyingTo: request))
        }
    }

    /// Keeps a reply, unless it or the request is long, or the request has another form than clients give it.
    ///
    /// - Parameters:
    ///   - reply: the frame, with its length.
    ///   - frame: the request's, without its length.
    func keep(_ reply: [UInt8], to frame: ArraySlice<UInt8>, _ entry: Entry, of peer: PeerKey) {
        guard frame.count <= Self.requestLimit, reply.count <= Self.replyLimit, let packed = PackedReply(reply) else {
            return
        }
        frame.withUnsafeBytes { bytes in
            guard let request = SilentRequestLayout(bytes) else { return }
            let hash = request.hash(of: bytes)
            discard(hash)
            let keeper = keepers[peer] ?? Keeper()
            keepers[peer] = keeper
            let kept = Kept(entry, request.masked(bytes), packed, keeper)
            replies[hash] = kept
            keeper.bytes += kept.size
            size += kept.size
            noteUse(of: kept, hash)
        }
        makeRoom()
    }

    // MARK: Changes

    /// Discards the replies that a change could alter; called by `AnswerChanges` only.
    func discard(_ answers: AlteredAnswers) {
        guard !replies.isEmpty else { return }
        switch answers {
        case .ofAccounts(let accounts, let group):
            discard { $0.group == group && $0.account.map(accounts.contains) ?? true }
        case .ofGroup(let group): discard { $0.group == group }
        case .ofHost(let host): discard { $0.host == host }
        case .all: discardAll()
        }
    }

    private func discardAll() {
        replies = [:]
        keepers = [:]
        (ended.bytes, ended.uses, size) = (0, [], 0)
    }

    /// Lets the replies of a process that has ended be replaced before all others.
    func disown(_ peer: PeerKey) {
        guard let keeper = keepers.removeValue(forKey: peer) else { return }
        for kept in replies.values where kept.keeper === keeper { kept.keeper = ended }
        ended.bytes += keeper.bytes
        ended.uses = (ended.uses + keeper.uses).filter { isLast($0, of: ended) }.sorted { $0.number < $1.number }
    }

    private func discard(_ isAltered: (Conditions) -> Bool) {
        for (hash, kept) in replies where isAltered(kept.entry.conditions) { discard(hash) }
    }

    private func discard(_ hash: Int) {
        guard let kept = replies.removeValue(forKey: hash) else { return }
        kept.keeper.bytes -= kept.size
        size -= kept.size
    }

    // MARK: Room

    /// Takes as long whatever is kept: uses are in order, and outdated ones are removed when they are more than half.
    private func noteUse(of kept: Kept, _ hash: Int) {
        useCount += 1
        kept.lastUse = useCount
        let keeper = kept.keeper
        keeper.uses.append((hash, useCount))
        guard keeper.uses.count > keeper.roomForUses else { return }
        keeper.uses.removeAll { !isLast($0, of: keeper) }
        keeper.roomForUses = 2 * keeper.uses.count + 64
    }

    private func isLast(_ use: Keeper.Use, of keeper: Keeper) -> Bool {
        replies[use.hash].map { $0.keeper === keeper && $0.lastUse == use.number } ?? false
    }

    private func makeRoom() {
        while size > limit {
            let keeper = ended.bytes > 0 ? ended : keepers.values.max { $0.bytes < $1.bytes }
            guard let keeper, let oldest = keeper.uses.firstIndex(where: { isLast($0, of: keeper) }) else { return }
            discard(keeper.uses[oldest].hash)
            keeper.uses.removeFirst(oldest + 1)
        }
    }

    /// The longest request whose reply is kept, in bytes; most have a few hundred.
    private static let requestLimit = 4 * 1024
    /// The longest reply that is kept, in bytes; most have a few thousand.
    private static let replyLimit = 64 * 1024
    /// The memory of an entry besides its request and its reply, in bytes.
    private static let overhead = 1024
}
