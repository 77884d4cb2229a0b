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
        /// The account of the request, whichever provider's it is.
        var account: HomeAccountID
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
        /// The process that keeps the reply; nil if it has ended.
        var keeper: PeerKey?
        var lastUse: UInt64

        init(_ entry: Entry, _ request: [UInt8], _ reply: PackedReply, _ keeper: PeerKey, _ lastUse: UInt64) {
            self.entry = entry
            self.request = request
            self.reply = reply
            self.keeper = keeper
            self.lastUse = lastUse
        }

        /// The memory that is counted, in bytes.
        var size: Int { request.count + reply.count + KeptReplies.overhead }
    }

    /// By the hash of the request's frame without its IDs. Of two requests with the same hash, the later one is kept.
    private var replies: [Int: Kept] = [:]
    /// The bytes that each process keeps; nil are those that have ended.
    private var used: [PeerKey?: Int] = [:]
    private var uses: UInt64 = 0
    private let limit: Int

    /// - Parameter limit: the bytes of all replies. The default leaves half of the locked memory to tokens; see `SecretMemory`.
    init(limit: Int = 512 << 10) {
        self.limit = limit
    }

    /// The bytes that are kept.
    var size: Int { used.values.reduce(0, +) }

    /// Returns the kept reply to a request.
    ///
    /// - Parameter frame: the request's, without its length.
    func hit(_ frame: ArraySlice<UInt8>, at now: Int64) -> Hit? {
        guard !replies.isEmpty, frame.count <= Self.requestLimit else { return nil }
        return frame.withUnsafeBytes { bytes in
            guard let request = SilentRequestLayout(bytes), let kept = replies[request.hash(of: bytes)],
                kept.entry.conditions.times.contains(now), request.isEqual(bytes, to: kept.request)
            else { return nil }
            uses += 1
            kept.lastUse = uses
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
            uses += 1
            let kept = Kept(entry, request.masked(bytes), packed, peer, uses)
            replies[hash] = kept
            used[peer, default: 0] += kept.size
        }
        makeRoom()
    }

    // MARK: Changes

    /// Discards the replies that a change could alter; called by `AnswerChanges` only.
    func discard(_ answers: AlteredAnswers) {
        guard !replies.isEmpty else { return }
        switch answers {
        case .ofAccounts(let accounts, let group): discard { $0.group == group && accounts.contains($0.account) }
        case .ofGroup(let group): discard { $0.group == group }
        case .ofHost(let host): discard { $0.host == host }
        case .all: discardAll()
        }
    }

    private func discardAll() {
        replies = [:]
        used = [:]
    }

    /// Lets the replies of a process that has ended be replaced before all others.
    func disown(_ peer: PeerKey) {
        guard let bytes = used.removeValue(forKey: peer) else { return }
        used[nil, default: 0] += bytes
        for kept in replies.values where kept.keeper == peer { kept.keeper = nil }
    }

    private func discard(_ isAltered: (Conditions) -> Bool) {
        for (hash, kept) in replies where isAltered(kept.entry.conditions) { discard(hash) }
    }

    private func discard(_ hash: Int) {
        guard let kept = replies.removeValue(forKey: hash) else { return }
        let rest = used[kept.keeper, default: 0] - kept.size
        used[kept.keeper] = rest > 0 ? rest : nil
    }

    // MARK: Room

    private func makeRoom() {
        while size > limit {
            let keeper: PeerKey? = used[nil] == nil ? used.max { $0.value < $1.value }?.key ?? nil : nil
            let oldest = replies.lazy.filter { $0.value.keeper == keeper }.min { $0.value.lastUse < $1.value.lastUse }
            guard let oldest else { return }
            discard(oldest.key)
        }
    }

    /// The longest request whose reply is kept, in bytes; most have a few hundred.
    private static let requestLimit = 4 * 1024
    /// The longest reply that is kept, in bytes; most have a few thousand.
    private static let replyLimit = 64 * 1024
    /// The memory of an entry besides its request and its reply, in bytes.
    private static let overhead = 1024
}
