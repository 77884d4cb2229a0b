internal import AccessPolicy
internal import AuditLog
internal import TokenModel
internal import TokenWire

/// The packed replies of cache hits, for requests that are repeated.
///
/// A reply is kept only while a new decision would give the same answer: its conditions are everything that the
/// decision depends on besides the request's bytes, which are compared. The time (the token is valid, not about to
/// expire, and need not be renewed) is checked for each request; whoever changes another condition has the replies
/// discarded: `AnswerChanges` has the list.
///
/// The access policy's decision about the peer is not a condition of the reply. It is made when a connection requests
/// another reply than with its last hit, and holds for repetitions of that one: `LastHit`, `CacheOwner.keptReply`.
///
/// All replies together have a limit of memory. When it is reached, the process that keeps most loses its least recently used reply: a
/// process that keeps less than its equal share loses nothing to others.
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
        let policyRequest: PolicyRequest
        /// The audit log's event, without its peer and its time; nil if there is no log.
        let event: AuditEvent?
        /// Whether the reply says until when it may be kept.
        var hasFreshness = false
        /// Whether the request was that of a confined peer, for which fewer accounts exist; see `AgentRequest.confined`.
        var isConfined = false
    }

    /// A kept reply, and a request that it answers. After the reply is discarded, it has the bytes of neither.
    struct Hit: Sendable {
        fileprivate let kept: Kept
        fileprivate let request: SilentRequestLayout

        var entry: Entry { kept.entry }

        /// Whether another hit is of the same reply.
        func isRepeated(by other: Hit) -> Bool { kept === other.kept }

        /// The reply to the request; nil if it has been discarded.
        ///
        /// - Parameter frame: the request's, without its length.
        func reply(to frame: ArraySlice<UInt8>) -> RepeatedReply? {
            kept.reply.map { RepeatedReply($0, to: request, frame) }
        }
    }

    // Unchecked, because a hit refers to it: it is used on the event loop only, which is that of the actor.
    fileprivate final class Kept: @unchecked Sendable {
        let entry: Entry
        let hash: Int
        /// The request's frame without its IDs, and the places of these.
        private(set) var request: [UInt8]
        let layout: SilentRequestLayout
        /// The packed reply; nil if it has been discarded, although the last hit of a connection may still refer to this object.
        private(set) var reply: PackedReply?
        var keeper: Keeper
        /// The number of the last use.
        var lastUse: UInt64 = 0
        /// The memory that is counted, in bytes.
        let size: Int

        init(
            _ entry: Entry, _ hash: Int, _ request: [UInt8], _ layout: SilentRequestLayout, _ reply: PackedReply,
            _ keeper: Keeper
        ) {
            self.entry = entry
            self.hash = hash
            self.request = request
            self.layout = layout
            self.reply = reply
            self.keeper = keeper
            size = request.count + reply.count + KeptReplies.overhead
        }

        /// Releases the reply, whose memory is wiped, and the request.
        func discard() { (reply, request) = (nil, []) }
    }

    /// A process that keeps replies, or all of those that have ended.
    fileprivate final class Keeper {
        /// A use of the reply with this hash. It is outdated if the reply has been used again, or discarded.
        typealias Use = (hash: Int, number: UInt64)

        /// The bytes that are kept.
        var bytes = 0
        /// The uses of the replies, in order; the least recently used reply is that of the first use that is not outdated.
        var uses: [Use] = []
        /// The number of uses from which on outdated ones are removed.
        var roomForUses = 64
    }

    /// The replies by the hash of the request's frame without its IDs. Of two requests with the same hash, the later
    /// one is kept.
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
    /// - Parameters:
    ///   - frame: the request's, without its length.
    ///   - last: the last hit of the same connection, of which most requests are repetitions: these need no search.
    ///   - isConfined: whether the peer is confined. The reply to another peer's request may be of another account.
    func hit(_ frame: ArraySlice<UInt8>, at now: Int64, after last: Hit? = nil, isConfined: Bool = false) -> Hit? {
        guard !replies.isEmpty, frame.count <= Self.requestLimit else { return nil }
        return frame.withUnsafeBytes { bytes in
            guard let hit = last.flatMap({ repetition($0.kept, bytes) }) ?? search(bytes),
                hit.kept.entry.conditions.times.contains(now), hit.kept.entry.isConfined == isConfined
            else { return nil }
            noteUse(of: hit.kept)
            return hit
        }
    }

    private func repetition(_ kept: Kept, _ frame: UnsafeRawBufferPointer) -> Hit? {
        guard kept.reply != nil else { return nil }
        return SilentRequestLayout(frame, repeating: kept.layout, kept.request).map { Hit(kept: kept, request: $0) }
    }

    private func search(_ frame: UnsafeRawBufferPointer) -> Hit? {
        guard let request = SilentRequestLayout(frame), let kept = replies[request.hash(of: frame)],
            request.isEqual(frame, to: kept.request)
        else { return nil }
        return Hit(kept: kept, request: request)
    }

    /// Keeps a reply, unless it or the request is long, or the request has another form than `AgentClient` gives it.
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
            let kept = Kept(entry, hash, request.masked(bytes), request, packed, keeper)
            replies[hash] = kept
            keeper.bytes += kept.size
            size += kept.size
            noteUse(of: kept)
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
        for kept in replies.values { kept.discard() }
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
        kept.discard()
        kept.keeper.bytes -= kept.size
        size -= kept.size
    }

    // MARK: Room

    /// Records a use, in a time that does not depend on the number of replies: uses are in order, and outdated ones are
    /// removed when they are more than half.
    private func noteUse(of kept: Kept) {
        // The reply was also the last one that was used.
        if kept.lastUse == useCount, useCount > 0 { return }
        useCount += 1
        kept.lastUse = useCount
        let keeper = kept.keeper
        keeper.uses.append((kept.hash, useCount))
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
