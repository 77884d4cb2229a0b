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

/// What callers and the reading thread share, behind one lock. It does no more under it than a write that cannot block.
struct ConnectionState {
    private(set) var calls: [UInt64: PendingCall] = [:]
    /// Numbers of calls that are yet to be added; one that is abandoned before that is none of them any more.
    private(set) var reserved: Set<UInt64> = []
    private var lastID: UInt64 = 0
    private var isClosed = false
    private var hasThread = false
    private var socket: Int32?
    private var wake: Int32?
    private var outbox: [UInt8] = []
    private var reading = Reading.nobody
    private var armed = MonotonicTime.distantFuture

    /// Who waits for replies.
    private enum Reading {
        case thread
        /// A caller does, for a moment; it calls the thread if that was not long enough.
        case caller
        case nobody
    }

    enum Added {
        case sent
        /// Sent, and the only call in flight: its caller is to read.
        case leads
        case needsThread
        case cancelled
        case closed
    }

    /// A number for a call, which is to be added or abandoned.
    mutating func reserveID() -> UInt64 {
        let id = newID()
        reserved.insert(id)
        return id
    }

    /// A number for a request whose reply nobody waits for.
    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Registers a call and, on an open connection, writes its frame from the caller's own thread.
    mutating func add(_ call: PendingCall, id: UInt64) -> Added {
        guard reserved.remove(id) != nil else { return .cancelled }
        guard !isClosed else { return .closed }
        calls[id] = call
        guard hasThread else {
            hasThread = true
            return .needsThread
        }
        guard socket != nil else { return .sent }
        transmit(id)
        // The thread has to be told of frames that wait for room, and of a deadline earlier than the one it knows.
        if !outbox.isEmpty || (reading == .thread && call.deadline < armed) { wakeThread() }
        guard reading == .nobody, outbox.isEmpty else { return .sent }
        reading = .caller
        return .leads
    }

    mutating func abandon(_ id: UInt64) -> PendingCall? {
        reserved.remove(id)
        return calls.removeValue(forKey: id)
    }

    /// The caller that led has read; what is still in flight is the thread's, and so is a stream that is over.
    mutating func finishLeading(isIntact: Bool) {
        reading = .nobody
        if !isIntact, let socket { shutdown(socket, Int32(SHUT_RDWR)) }
        if !calls.isEmpty { wakeThread() }
    }

    mutating func close() -> [PendingCall] {
        isClosed = true
        wakeThread()
        defer { calls.removeAll() }
        return Array(calls.values)
    }

    // MARK: For the reading thread

    var isOpen: Bool { !isClosed }

    /// The connection is there: send what waits for it, oldest first.
    mutating func opened(socket: Int32, wake: Int32, greeting: [UInt8]) {
        self.socket = socket
        self.wake = wake
        reading = .thread
        outbox = greeting
        for id in calls.keys.sorted() { transmit(id) }
    }

    /// Nothing may be written any more.
    mutating func disconnected() {
        socket = nil
        wake = nil
        outbox.removeAll()
    }

    /// The connection is gone. Calls that may not be sent again end here; the others wait for the next connection.
    ///
    /// - Returns: the calls that end, and whether the thread goes on. Both are decided at once: a call that is added
    ///   later either finds the thread going on, or starts another.
    mutating func broke() -> (ended: [PendingCall], goesOn: Bool) {
        let ended = calls.filter { $0.value.timesSent > ($0.value.isRepeatable ? 1 : 0) }
        for id in ended.keys { calls.removeValue(forKey: id) }
        hasThread = !isClosed && !calls.isEmpty
        return (Array(ended.values), hasThread)
    }

    /// No connection can be had: every call ends.
    mutating func gaveUp() -> [PendingCall] {
        hasThread = false
        defer { calls.removeAll() }
        return Array(calls.values)
    }

    mutating func take(_ id: UInt64) -> PendingCall? { calls.removeValue(forKey: id) }

    mutating func expire(at now: MonotonicTime) -> [PendingCall] {
        let expired = calls.filter { $0.value.deadline <= now }
        for id in expired.keys { calls.removeValue(forKey: id) }
        return Array(expired.values)
    }

    /// What the thread has to wait for on the socket, and until when it has to look at deadlines; nil when it is to end.
    ///
    /// While nobody or a caller reads, it only waits for the connection to break, which `poll` reports unasked.
    mutating func watch() -> (events: Int16, until: MonotonicTime)? {
        guard !isClosed else { return nil }
        if reading != .caller { reading = calls.isEmpty ? .nobody : .thread }
        let output = outbox.isEmpty ? 0 : Int16(POLLOUT)
        guard reading == .thread else { return (output, .distantFuture) }
        armed = calls.values.map(\.deadline).min() ?? .distantFuture
        return (output | Int16(POLLIN), armed)
    }

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
        // A library must not change the app's signal disposition, so SIGPIPE is declined call by call.
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        private static let sendFlags: Int32 = 0
    #endif
}

/// A moment on a clock that only goes forward, in nanoseconds.
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

    /// What `poll` is told: milliseconds from `now`, rounded up; -1 waits for ever.
    func pollTimeout(from now: MonotonicTime) -> Int32 {
        guard self != .distantFuture else { return -1 }
        guard self > now else { return 0 }
        return Int32(min((nanoseconds - now.nanoseconds) / 1_000_000 + 1, UInt64(Int32.max)))
    }
}
