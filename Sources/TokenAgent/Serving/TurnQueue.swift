internal import NIOCore

/// Work for one connection of a peer that is done in parts.
protocol PeerWork: AnyObject {
    /// Whether a part of the work can be done now.
    var hasWork: Bool { get }

    /// Does a part of the work: a few requests, fewer if the turn is over. Is called also if there is none: a connection then
    /// notes that a frame is incomplete, and starts its time-out.
    func work(in turn: inout PeerTurn)
}

/// The time in which requests of one peer are handled, one after the other.
struct PeerTurn {
    private let start: NIODeadline
    private let length: TimeAmount
    fileprivate private(set) var isShort: Bool

    fileprivate init(from start: NIODeadline, _ length: TimeAmount, isShort: Bool = false) {
        (self.start, self.length, self.isShort) = (start, length, isShort)
    }

    /// Shortens the turn to a quarter, because a request had no kept reply: such a request may take as long as twenty that have one, and the
    /// next one may overrun the turn by as much.
    mutating func shorten() { isShort = true }

    func isOver(at time: NIODeadline) -> Bool { time >= start + (isShort ? length.quarter : length) }
}

/// A peer's place in a `TurnQueue`.
final class PeerTurns {
    /// The connections with work, in order.
    fileprivate var waiting = CircularBuffer<any PeerWork>()
    fileprivate var members: Set<ObjectIdentifier> = []
    fileprivate var isQueued = false
    /// The time that was used for the peer, since a point in time that all peers share.
    fileprivate var total = TimeAmount.zero
    /// The time that was used for the peer since the event loop looked at other connections last.
    fileprivate var current = TimeAmount.zero
    /// Whether a request had to be worked out in that time, so that a turn is shorter.
    fileprivate var isShort = false
    fileprivate var isResetting = false
}

/// Divides the event loop's time among the peers that have work.
///
/// Work is done immediately, until the agent has worked for its peer as long as a turn lasts. What remains waits for further
/// turns. Between two turns the event loop looks at every other connection, so that a peer with one request waits for one turn of
/// another peer, however much work that peer has. Turns are given to the peer for which the agent has worked least.
///
/// Used on the event loop only.
final class TurnQueue {
    private let turn: TimeAmount
    private let now: () -> NIODeadline
    /// Makes the event loop call `takeTurn` after it has looked at other connections.
    private let callBack: () -> Void
    /// Calls its argument at the end of the event loop's current iteration.
    private let atEndOfIteration: (@escaping () -> Void) -> Void
    private var peers: [PeerTurns] = []
    /// The peers whose current time is reset at the end of the iteration.
    private var resetting: [PeerTurns] = []
    /// The total time of the peer that had the last turn. A peer that joins the queue has at least this total: time that a peer has
    /// not used is not saved up.
    private var served = TimeAmount.zero

    init(
        turn: TimeAmount, now: @escaping () -> NIODeadline = NIODeadline.now, callBack: @escaping () -> Void,
        atEndOfIteration: @escaping (@escaping () -> Void) -> Void
    ) {
        self.turn = turn
        self.now = now
        self.callBack = callBack
        self.atEndOfIteration = atEndOfIteration
    }

    /// Does work at once if the peer has time left, and otherwise in one of its next turns.
    ///
    /// - Parameter start: the present time; read from the clock if it is nil.
    func run(_ work: any PeerWork, of peer: PeerTurns, at start: NIODeadline? = nil) {
        guard !peer.isQueued else { return add(work, of: peer) }
        let start = start ?? now()
        var part = PeerTurn(from: start - peer.current, turn, isShort: peer.isShort)
        guard !part.isOver(at: start) else { return add(work, of: peer) }
        work.work(in: &part)
        peer.isShort = part.isShort
        charge(peer, now() - start)
        if work.hasWork { add(work, of: peer) }
    }

    /// Gives a turn to the peer for which the agent has worked least.
    func takeTurn() {
        guard let index = peers.indices.min(by: { peers[$0].total < peers[$1].total }) else { return }
        let peer = peers[index]
        served = peer.total
        let start = now()
        var (part, end) = (PeerTurn(from: start, turn), start)
        // Each connection has its part once, before any has another.
        for _ in 0..<peer.waiting.count where !part.isOver(at: end) {
            guard let work = peer.waiting.popFirst() else { break }
            work.work(in: &part)
            if work.hasWork { peer.waiting.append(work) } else { peer.members.remove(ObjectIdentifier(work)) }
            end = now()
        }
        peer.total = peer.total + (end - start)
        if peer.waiting.isEmpty {
            peer.isQueued = false
            peers.remove(at: index)
        }
        if !peers.isEmpty { callBack() }
    }

    /// Does work in one of the peer's next turns.
    func add(_ work: any PeerWork, of peer: PeerTurns) {
        guard peer.members.insert(ObjectIdentifier(work)).inserted else { return }
        peer.waiting.append(work)
        guard !peer.isQueued else { return }
        peer.isQueued = true
        peer.total = max(peer.total, served)
        peers.append(peer)
        if peers.count == 1 { callBack() }
    }

    private func charge(_ peer: PeerTurns, _ time: TimeAmount) {
        peer.total = peer.total + time
        peer.current = peer.current + time
        // A peer with few requests rarely reaches this point, and so causes no reset.
        guard !peer.isResetting, peer.current >= (peer.isShort ? turn.quarter : turn).half else { return }
        peer.isResetting = true
        resetting.append(peer)
        if resetting.count == 1 { atEndOfIteration { [weak self] in self?.reset() } }
    }

    private func reset() {
        for peer in resetting { (peer.current, peer.isShort, peer.isResetting) = (.zero, false, false) }
        resetting.removeAll(keepingCapacity: true)
    }
}

extension TimeAmount {
    fileprivate var half: TimeAmount { .nanoseconds(nanoseconds / 2) }
    fileprivate var quarter: TimeAmount { half.half }
}
