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
    var deliver: @Sendable (AgentConnection.Outcome) -> Void
}

/// The state that callers and the reading thread share, behind one lock. Under the lock nothing blocks: sockets are
/// written without waiting.
struct ConnectionState {
    private(set) var calls: [UInt64: PendingCall] = [:]
    /// Numbers handed out by `reserveID` and not used yet. A number that is abandoned is removed, and its call is not
    /// sent.
    private(set) var reserved: Set<UInt64> = []
    private var lastID: UInt64 = 0
    private var isClosed = false
    private var hasThread = false
    private var socket: Int32?
    private var wake: Int32?
    private var outbox: [UInt8] = []
    private var reader = Reader.none
    /// The deadline until which the reading thread sleeps.
    private var threadDeadline = MonotonicTime.distantFuture

    /// Who reads replies.
    private enum Reader {
        case thread
        /// The caller of the only call in flight, for at most a millisecond; the thread takes over afterwards.
        case caller
        case none
    }

    /// What happened to a call that was added.
    enum AddResult {
        case sent
        /// Sent as the only call in flight; the caller has to read its reply.
        case callerReads
        /// Kept until the reading thread, which the caller has to start, has connected.
        case needsThread
        case cancelled
        case closed
    }

    /// Returns a number for a call, to be passed to `add` or `abandon`.
    mutating func reserveID() -> UInt64 {
        let id = newID()
        reserved.insert(id)
        return id
    }

    /// Returns a number for a request whose reply is ignored.
    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Registers a call and, on an open connection, writes its frame from the caller's own thread.
    mutating func add(_ call: PendingCall, id: UInt64) -> AddResult {
        guard reserved.remove(id) != nil else { return .cancelled }
        guard !isClosed else { return .closed }
        calls[id] = call
        guard hasThread else {
            hasThread = true
            return .needsThread
        }
        guard socket != nil else { return .sent }
        transmit(id)
        // The thread has to wait for room in the socket, or for a deadline earlier than the one it sleeps until.
        if !outbox.isEmpty || (reader == .thread && call.deadline < threadDeadline) { wakeThread() }
        guard reader == .none, outbox.isEmpty else { return .sent }
        reader = .caller
        return .callerReads
    }

    mutating func abandon(_ id: UInt64) -> PendingCall? {
        reserved.remove(id)
        return calls.removeValue(forKey: id)
    }

    /// Ends the reading by a caller. The thread reads on for the calls in flight, and handles the end of the stream.
    mutating func callerFinishedReading(isStreamIntact: Bool) {
        reader = .none
        if !isStreamIntact, let socket { shutdown(socket, Int32(SHUT_RDWR)) }
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

    /// Uses a new connection: sends the greeting and all calls that wait, oldest first.
    mutating func opened(socket: Int32, wake: Int32, greeting: [UInt8]) {
        self.socket = socket
        self.wake = wake
        reader = .thread
        outbox = greeting
        for id in calls.keys.sorted() { transmit(id) }
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
        defer { calls.removeAll() }
        return Array(calls.values)
    }

    mutating func removeCall(_ id: UInt64) -> PendingCall? { calls.removeValue(forKey: id) }

    /// Removes the calls whose deadline has passed, and returns them.
    mutating func expire(at now: MonotonicTime) -> [PendingCall] {
        let expired = calls.filter { $0.value.deadline <= now }
        for id in expired.keys { calls.removeValue(forKey: id) }
        return Array(expired.values)
    }

    /// Returns the events of the socket that the thread has to wait for, and the next deadline of a call; nil if the
    /// client was closed.
    ///
    /// No event is awaited while a caller reads or no call is in flight: `poll` reports a broken connection regardless.
    mutating func nextWait() -> (events: Int16, deadline: MonotonicTime)? {
        guard !isClosed else { return nil }
        if reader != .caller { reader = calls.isEmpty ? .none : .thread }
        let output = outbox.isEmpty ? 0 : Int16(POLLOUT)
        guard reader == .thread else { return (output, .distantFuture) }
        threadDeadline = calls.values.map(\.deadline).min() ?? .distantFuture
        return (output | Int16(POLLIN), threadDeadline)
    }

    /// Writes as much of the outbox as the socket takes without blocking.
    mutating func flush() {
        guard let socket, !outbox.isEmpty else { return }
        let sent = outbox.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Self.sendFlags) }
        if sent > 0 { outbox.removeFirst(sent) }
    }

    private mutating func transmit(_ id: UInt64) {
        guard let frame = calls[id]?.frame else { return }
        calls[id]?.timesSent += 1
        outbox += frame
        flush()
    }

    private func wakeThread() {
        guard let wake else { return }
        var byte: UInt8 = 1
        _ = write(wake, &byte, 1)
    }

    #if os(Linux)
        // Suppresses SIGPIPE for each write, since a library must not change the app's signal disposition.
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        private static let sendFlags: Int32 = 0
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
