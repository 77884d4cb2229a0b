internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A call that waits for its reply.
struct PendingCall: Sendable {
    var frame: [UInt8]
    var deadline: MonotonicTime
    var isRepeatable: Bool
    var timesSent = 0
    /// Whether a connection was already closed when the call was to be sent on it. Once, that does not count as sent.
    var hasMetClosedConnection = false
    /// Called with a reply that comes after the call has ended without one; nil for a call whose late reply is of no use.
    var lateReply: LateReply?
    var deliver: @Sendable (AgentConnection.Outcome) -> Void

    typealias LateReply = @Sendable (ReplyFrame) -> Void

    /// The call that receives the late reply after this one has ended; nil if no reply can come, or it is not wanted.
    fileprivate func awaitingLateReply(at now: MonotonicTime) -> PendingCall? {
        guard let lateReply, timesSent > 0 else { return nil }
        return PendingCall(
            frame: [], deadline: now.advanced(by: Self.longestWait), isRepeatable: false, timesSent: timesSent
        ) { outcome in
            if case .success(let reply) = outcome { lateReply(reply) }
        }
    }

    /// How long a late reply is waited for. The agent answers in less time.
    private static let longestWait = Duration.seconds(600)
}

/// The state that callers and the reading thread share, behind one lock. Under the lock nothing blocks: sockets are
/// written without waiting.
struct ConnectionState {
    private(set) var calls: [UInt64: PendingCall] = [:]
    /// The calls that are about to be added. One that is abandoned is removed, and is not added.
    private(set) var reserved: Set<UInt64> = []
    /// Whether a reply has arrived on any connection. The first one is that to `Hello`.
    private(set) var hasReceivedReply = false
    /// Whether the last attempt to connect has succeeded: an agent that is gone may be restarting.
    private(set) var wasConnected = false
    private var isClosed = false
    private var hasThread = false
    private var socket: OwnDescriptor?
    /// The number of connections so far, by which a caller knows whether the one that it has used is still open.
    private(set) var connections: UInt64 = 0
    private var wake: OwnDescriptor?
    private var outbox: [UInt8] = []
    private var reader = Reader.none
    /// The call that was sent by `sendAlone` and is not finished; its reply, if the reading thread has read it.
    private var soleCall: (id: UInt64, reply: ReplyFrame?)?
    /// No call has an earlier deadline. Those of thousands of calls are compared when it has passed only, and not at each reply. The
    /// reading thread sleeps until then at most.
    private var earliestDeadline = MonotonicTime.distantFuture

    /// Who reads replies.
    private enum Reader {
        case thread
        /// The caller of the only call in flight, for as long as a cache hit takes; the thread takes over afterwards.
        case caller
        case none
    }

    /// What happened to a call that was added.
    enum AddResult {
        case sent
        /// Kept until the reading thread, which the caller has to start, has connected.
        case needsThread
        /// The caller has abandoned the call; its reply, if that has come nevertheless.
        case cancelled(ReplyFrame?)
        case closed
        case replied(ReplyFrame)
        /// The connection broke after the call was sent, which must not be sent again.
        case lost
    }

    /// Announces a call to `add` or `adopt`, so that it can be abandoned before.
    mutating func reserve(_ id: UInt64) { reserved.insert(id) }

    /// Writes the frame of a call whose caller will read the reply. The call is not registered, unless it has to wait
    /// longer (`adopt`).
    ///
    /// - Returns: the number of the connection; nil if there is none, it takes nothing any more, or a call is in flight.
    mutating func sendAlone(_ frame: [UInt8], id: UInt64) -> UInt64? {
        guard let socket, reader == .none, soleCall == nil, calls.isEmpty, outbox.isEmpty, !isClosed, socket.isOpen
        else { return nil }
        let sent = frame.withUnsafeBytes { send(socket.number, $0.baseAddress, $0.count, Self.sendFlags) }
        guard sent >= 0 || Self.mayTakeMore else { return nil }
        reader = .caller
        soleCall = (id, nil)
        if sent < frame.count {
            outbox = Array(frame.dropFirst(max(sent, 0)))
            wakeThread()
        }
        return connections
    }

    /// Registers a call and, on an open connection, writes its frame from the caller's own thread.
    mutating func add(_ call: PendingCall, id: UInt64) -> AddResult {
        guard reserved.remove(id) != nil else { return .cancelled(nil) }
        guard !isClosed else { return .closed }
        return enqueue(call, id: id)
    }

    /// Registers a call that was sent by `sendAlone` and whose caller stops reading before it has the reply.
    ///
    /// - Parameters:
    ///   - connection: the number that `sendAlone` returned.
    ///   - isStreamIntact: false if the caller has found the end of the stream.
    mutating func adopt(_ call: PendingCall, id: UInt64, sentOn connection: UInt64, isStreamIntact: Bool) -> AddResult {
        let isOpen = connection == connections && socket != nil
        if isOpen {
            reader = .none
            // The thread handles the end of the stream.
            if !isStreamIntact { socket?.shutDown() }
            wakeThread()
        }
        let reply = soleCall?.reply
        soleCall = nil
        guard reserved.remove(id) != nil else {
            if reply == nil, isOpen, let late = call.awaitingLateReply(at: .now) { register(late, id: id) }
            return .cancelled(reply)
        }
        if let reply { return .replied(reply) }
        guard !isClosed else { return .closed }
        if isOpen {
            register(call, id: id)
            return .sent
        }
        return call.isRepeatable ? enqueue(call, id: id) : .lost
    }

    /// Sends a call on the open connection, or keeps it for the next one.
    private mutating func enqueue(_ call: PendingCall, id: UInt64) -> AddResult {
        register(call, id: id)
        guard hasThread else {
            hasThread = true
            return .needsThread
        }
        guard socket != nil else { return .sent }
        transmit(id)
        // The thread has to read, or to wait for room in the socket.
        if reader == .none || !outbox.isEmpty { wakeThread() }
        return .sent
    }

    /// Adds a call, and wakes the thread if it sleeps longer than until the call's deadline.
    private mutating func register(_ call: PendingCall, id: UInt64) {
        calls[id] = call
        guard call.deadline < earliestDeadline else { return }
        earliestDeadline = call.deadline
        wakeThread()
    }

    mutating func abandon(_ id: UInt64) -> PendingCall? {
        reserved.remove(id)
        return end(id, at: .now)
    }

    /// Removes a call, whose late reply may still be waited for.
    private mutating func end(_ id: UInt64, at now: MonotonicTime) -> PendingCall? {
        guard let call = calls.removeValue(forKey: id) else { return nil }
        if let late = call.awaitingLateReply(at: now) { register(late, id: id) }
        return call
    }

    /// Ends the reading by a caller, who has the reply. The thread reads on for other calls.
    ///
    /// - Parameter connection: the number that `sendAlone` returned. On a later connection the thread reads already.
    mutating func callerFinishedReading(on connection: UInt64) {
        soleCall = nil
        guard connection == connections, reader == .caller else { return }
        reader = .none
        if !calls.isEmpty { wakeThread() }
    }

    mutating func close() -> [PendingCall] {
        isClosed = true
        wakeThread()
        defer { calls.removeAll() }
        return Array(calls.values)
    }

    // MARK: Used by the reading thread

    var isOpen: Bool { !isClosed }

    /// Uses a new connection: sends a `Hello` request and all calls that wait, oldest first.
    ///
    /// - Returns: the calls whose deadline has passed. They are not sent: their callers get an error, so that the agent
    ///   must not perform them.
    mutating func opened(
        socket: OwnDescriptor, wake: OwnDescriptor, hello: [UInt8], at now: MonotonicTime
    ) -> [PendingCall] {
        self.socket = socket
        self.wake = wake
        connections += 1
        wasConnected = true
        reader = .thread
        outbox = hello
        let expired = expire(at: now)
        for id in calls.keys.sorted() { transmit(id) }
        return expired
    }

    /// Stops writing to the connection, which is about to be closed.
    mutating func disconnected() {
        socket = nil
        wake = nil
        outbox.removeAll()
    }

    /// Handles the loss of the connection. Calls that must not be sent again end; the others wait for the next
    /// connection.
    ///
    /// - Returns: the calls that end, and whether others are left for which the thread has to connect again. Both are
    ///   decided under the lock, so that a call added later finds either a running thread or none.
    mutating func connectionBroke() -> (ended: [PendingCall], hasCallsLeft: Bool) {
        let ended = calls.filter { $0.value.timesSent > ($0.value.isRepeatable ? 1 : 0) }
        for id in ended.keys { calls.removeValue(forKey: id) }
        hasThread = !isClosed && !calls.isEmpty
        return (Array(ended.values), hasThread)
    }

    /// Removes every call, since there is no agent to connect to.
    mutating func connectingFailed() -> [PendingCall] {
        hasThread = false
        wasConnected = false
        defer { calls.removeAll() }
        return Array(calls.values)
    }

    /// Ends the reading thread if no call waits for a connection any more. This is decided under the lock, so that a call added later finds
    /// either a running thread or none.
    ///
    /// - Returns: whether the thread has to end.
    mutating func endThreadIfIdle() -> Bool {
        guard calls.isEmpty else { return false }
        (hasThread, wasConnected) = (false, false)
        return true
    }

    /// Returns the call that a reply belongs to, and removes it; nil if there is none, or its caller fetches the reply.
    mutating func removeCall(repliedBy reply: ReplyFrame) -> PendingCall? {
        hasReceivedReply = true
        if soleCall?.id == reply.id {
            soleCall?.reply = reply
            return nil
        }
        let call = calls.removeValue(forKey: reply.id)
        // The caller may send its next request before the thread looks at the state again.
        if calls.isEmpty, reader == .thread { reader = .none }
        return call
    }

    /// Removes the calls whose deadline has passed, and returns them.
    mutating func expire(at now: MonotonicTime) -> [PendingCall] {
        guard earliestDeadline <= now else { return [] }
        let expired = calls.filter { $0.value.deadline <= now }.keys.compactMap { end($0, at: now) }
        earliestDeadline = calls.values.lazy.map(\.deadline).min() ?? .distantFuture
        return expired
    }

    /// Returns the events of the socket that the thread has to wait for, and a time not after the next deadline of a call; nil if
    /// the client was closed.
    ///
    /// No event is awaited while a caller reads or no call is in flight: Linux's `poll` reports a broken connection regardless. That of macOS
    /// does not; there the next call finds it broken, and is sent on another one.
    mutating func nextWait() -> (events: Int16, deadline: MonotonicTime)? {
        guard !isClosed else { return nil }
        if reader != .caller { reader = calls.isEmpty ? .none : .thread }
        let output = outbox.isEmpty ? 0 : Int16(POLLOUT)
        guard reader == .thread else { return (output, .distantFuture) }
        return (output | Int16(POLLIN), earliestDeadline)
    }

    /// Writes as much of the outbox as the socket takes without blocking. A socket that takes nothing any more is ended for reading too,
    /// so that the thread closes it: it would be writable for ever.
    ///
    /// - Returns: false if nothing of the outbox was or will be sent.
    @discardableResult
    mutating func flush() -> Bool {
        guard let socket, !outbox.isEmpty else { return true }
        // The thread, which connects again, has not noticed yet. It may wait for the reply to another call: nothing wakes a thread that
        // polls a descriptor that is closed.
        guard socket.isOpen else {
            outbox.removeAll()
            wakeThread()
            return false
        }
        let sent = outbox.withUnsafeBytes { send(socket.number, $0.baseAddress, $0.count, Self.sendFlags) }
        if sent > 0 {
            outbox.removeFirst(sent)
        } else if sent < 0, !Self.mayTakeMore {
            outbox.removeAll()
            socket.shutDown()
            return false
        }
        return true
    }

    /// Whether a socket that has just taken nothing may do so later, by the error of the system.
    private static var mayTakeMore: Bool { errno == EAGAIN || errno == EINTR }

    private mutating func transmit(_ id: UInt64) {
        guard var call = calls[id] else { return }
        outbox += call.frame
        if !flush(), !call.hasMetClosedConnection {
            call.hasMetClosedConnection = true
        } else {
            call.timesSent += 1
        }
        calls[id] = call
    }

    private func wakeThread() {
        guard let wake, wake.isOpen else { return }
        var byte: UInt8 = 1
        _ = write(wake.number, &byte, 1)
    }

    #if os(Linux)
        // Suppresses SIGPIPE for each write, since a library must not change the app's signal disposition.
        private static let sendFlags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    #else
        private static let sendFlags = Int32(MSG_DONTWAIT)
    #endif
}

/// A point in time of the monotonic clock, in nanoseconds.
struct MonotonicTime: Sendable, Comparable {
    var nanoseconds: UInt64

    static let distantFuture = MonotonicTime(nanoseconds: .max)

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        let sum = Double(nanoseconds) + Double(seconds) * 1e9 + Double(attoseconds) * 1e-9
        return sum < Double(UInt64.max) ? MonotonicTime(nanoseconds: UInt64(max(sum, 0))) : .distantFuture
    }

    /// The time-out of `poll` for this point in time: milliseconds from `now`, rounded up; -1, which is no time-out,
    /// for `distantFuture`.
    func pollTimeout(from now: MonotonicTime) -> Int32 {
        guard self != .distantFuture else { return -1 }
        guard self > now else { return 0 }
        return Int32(min((nanoseconds - now.nanoseconds) / 1_000_000 + 1, UInt64(Int32.max)))
    }
}
