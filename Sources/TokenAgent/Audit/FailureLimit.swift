internal import AuditLog

/// Limits the lines of the audit log about failed requests, which hand out nothing: 60 in a minute for each peer, 300 for all, and one line
/// for each peer with the number of those that were omitted. Without it, an app could repeat a request that is refused until the files have
/// no older lines.
///
/// The table of peers has a limited size. Peers beyond it share one limit.
struct FailureLimit: Sendable {
    /// The lines to write because of a failed request.
    struct Decision {
        /// Whether the event has a line.
        var isAdmitted = true
        /// The lines about events that were omitted earlier.
        var omissions: [AuditEvent] = []
        /// The minute that has to be ended, with the first event that is omitted in it.
        var minute: (end: Int64, number: UInt64, peer: LimitedPeer)?
    }

    private struct Minute {
        /// Distinguishes the minute from a later one of the same peer.
        let number: UInt64
        let start: Int64
        let peer: AuditEvent.Peer?
        let socket: String?
        var count = 0
        var omitted = 0

        /// The line about the events that were omitted; nil if there are none.
        func omission(at time: Int64) -> AuditEvent? {
            guard omitted > 0 else { return nil }
            return AuditEvent(
                .omitted, time: time, peer: peer, socket: socket, outcome: AuditEvent.Kind.omitted.rawValue,
                count: omitted)
        }

        /// Whether the minute is over. The clock may have been set back.
        func isOver(at time: Int64) -> Bool { abs(time - start) >= FailureLimit.secondsOfMinute }
    }

    /// The present minute of each peer that has had a failure in it.
    private var minutes: [LimitedPeer: Minute] = [:]
    /// The lines of all peers in the minute that began then.
    private var all = (start: Int64(0), count: 0)
    private var lastNumber: UInt64 = 0

    /// The number of peers in the table.
    var count: Int { minutes.count }

    /// Counts a failed request, and decides whether it has a line.
    mutating func decide(on event: AuditEvent, of peer: LimitedPeer) -> Decision {
        var decision = Decision()
        if let minute = minutes[peer], minute.isOver(at: event.time) { remove(peer, event.time, &decision) }
        if minutes[peer] == nil, minutes.count >= Self.maximumPeers { removeOver(event.time, &decision) }
        let peer = minutes[peer] == nil && minutes.count >= Self.maximumPeers ? .others : peer
        if let minute = minutes[peer], minute.isOver(at: event.time) { remove(peer, event.time, &decision) }
        var minute = minutes[peer] ?? begin(event, of: peer)
        minute.count += 1
        decision.isAdmitted = minute.count <= Self.eventsPerMinute && admitsLine(at: event.time)
        if !decision.isAdmitted { minute.omitted += 1 }
        minutes[peer] = minute
        if minute.omitted == 1, !decision.isAdmitted {
            let end = Self.secondsOfMinute - abs(event.time - minute.start)
            decision.minute = (end, minute.number, peer)
        }
        return decision
    }

    /// Counts a line of any peer; false if this minute has had all that it may have.
    private mutating func admitsLine(at time: Int64) -> Bool {
        if abs(time - all.start) >= Self.secondsOfMinute { all = (time, 0) }
        guard all.count < Self.eventsOfAll else { return false }
        all.count += 1
        return true
    }

    /// Ends a minute.
    ///
    /// - Returns: the line about the events that were omitted in it; nil if there are none, or if the minute has ended already.
    mutating func end(_ number: UInt64, of peer: LimitedPeer, at time: Int64) -> AuditEvent? {
        guard minutes[peer]?.number == number else { return nil }
        return minutes.removeValue(forKey: peer)?.omission(at: time)
    }

    /// Ends the present minute of a peer; returns the line about the events that were omitted in it, if there are any.
    mutating func end(_ peer: LimitedPeer, at time: Int64) -> AuditEvent? {
        minutes.removeValue(forKey: peer)?.omission(at: time)
    }

    /// Ends the present minute of every peer; returns the lines about omitted events.
    mutating func endAll(at time: Int64) -> [AuditEvent] {
        defer { minutes = [:] }
        return minutes.values.sorted { $0.number < $1.number }.compactMap { $0.omission(at: time) }
    }

    private mutating func begin(_ event: AuditEvent, of peer: LimitedPeer) -> Minute {
        lastNumber += 1
        let socket: String? = if case .publishedSocket = peer { event.socket } else { nil }
        return Minute(number: lastNumber, start: event.time, peer: peer.description(in: event), socket: socket)
    }

    private mutating func remove(_ peer: LimitedPeer, _ time: Int64, _ decision: inout Decision) {
        if let omission = end(peer, at: time) { decision.omissions.append(omission) }
    }

    /// Makes room in the table.
    private mutating func removeOver(_ time: Int64, _ decision: inout Decision) {
        for (peer, minute) in minutes where minute.isOver(at: time) { remove(peer, time, &decision) }
    }

    /// The number of failed requests of a peer that have lines of their own in a minute.
    static let eventsPerMinute = 60
    /// The number of failed requests of all peers together that have lines of their own in a minute: a user can start any number of
    /// processes.
    static let eventsOfAll = 300
    /// The number of peers that have a limit of their own at the same time.
    static let maximumPeers = 64
    private static let secondsOfMinute: Int64 = 60
}

extension LimitedPeer {
    /// What the line about omitted events says of the peer: nothing that differs between its processes.
    fileprivate func description(in event: AuditEvent) -> AuditEvent.Peer? {
        switch self {
        case .process: return event.peer
        case .app, .unknownApp, .user:
            guard let peer = event.peer else { return nil }
            return AuditEvent.Peer(userID: peer.userID, processID: nil, peerClass: peer.peerClass, app: peer.app)
        case .publishedSocket, .others: return nil
        }
    }
}
