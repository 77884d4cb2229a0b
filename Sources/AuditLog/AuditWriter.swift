package import Dispatch
internal import PosixFiles
internal import Synchronization
package import TokenModel

/// Writes audit events, in the order of the calls, on a thread of its own: the event loop never waits for the disk.
///
/// Safe to use from any thread. Events that cannot be written are counted, and the next lines that can be say how many.
package final class AuditWriter: Sendable {
    /// The places to which the log is written.
    package enum Destination: Sendable, Equatable {
        /// A file, which is renamed when it has `limit` bytes.
        case file(path: String, limit: Int)
        /// The journal with this socket.
        case journal(socket: String)
    }

    /// The name of the current file in the store's folder.
    package static let fileName = "audit.log"
    /// The size from which on a new file is begun, in bytes.
    package static let fileLimit = 8 << 20
    /// The socket of the system's journal.
    package static let journalSocket = "/run/systemd/journal/socket"
    /// The number of older files that are kept.
    package static let olderFiles = 4

    private let queue = DispatchQueue(label: "sso-agent.audit")
    private let waiting = Mutex(Waiting())
    /// Used on `queue` only, so that the lock is never contended.
    private let sink: Mutex<any AuditSink>
    private let onFailure: @Sendable (TokenError) -> Void

    /// A line that waits to be written, in which equal events are counted.
    package struct Line: Sendable, Equatable {
        fileprivate var batch: UInt64
        fileprivate var position: Int
    }

    private struct Waiting {
        var events: [AuditEvent] = []
        /// The number of the events that are written together.
        var batch: UInt64 = 0
        /// The position in `events` of each event that equal ones are counted in, regardless of time and count. Empty while few
        /// events wait, which are compared one by one: nearly every event equals one of them, and a comparison costs much less than
        /// a hash.
        var positions: [AuditEvent: Int] = [:]
        /// The number of events that were lost since the last line.
        var lost = 0
        /// Whether `write` has been scheduled, and not begun.
        var isScheduled = false
        /// Whether `interval` has not passed since lines were written. When it has, the events that wait are written.
        var isPausing = false
        /// The error of the last lines; nil if they were written.
        var problem: TokenError?

        /// The position of the event that an equal one is counted in; nil if there is none.
        func position(of event: AuditEvent) -> Int? {
            guard events.count > AuditWriter.fewWaiting else {
                return events.lastIndex { $0.isShared && $0.isEqual(to: event) }
            }
            return positions[event.withoutTime]
        }

        mutating func count(_ number: Int, at position: Int) {
            events[position].count = (events[position].count ?? 1) + number
        }

        /// - Returns: whether the caller has to schedule `write`.
        mutating func schedule(isUrgent: Bool) -> Bool {
            guard !isScheduled, isUrgent || !isPausing else { return false }
            isScheduled = true
            return true
        }

        /// Removes the events that wait, to write them.
        ///
        /// - Returns: also whether a pause has begun, which the caller has to end.
        mutating func removeAll() -> (events: [AuditEvent], lost: Int, beginsPause: Bool) {
            let beginsPause = !isPausing && !events.isEmpty
            defer {
                (events, positions, lost, isScheduled) = ([], [:], 0, false)
                batch += 1
                isPausing = isPausing || beginsPause
            }
            return (events, lost, beginsPause)
        }

        mutating func append(_ event: AuditEvent) {
            events.append(event)
            if events.count == AuditWriter.fewWaiting + 1 {
                for (position, event) in events.enumerated() where event.isShared {
                    positions[event.withoutTime] = position
                }
            } else if events.count > AuditWriter.fewWaiting, event.isShared {
                positions[event.withoutTime] = events.count - 1
            }
        }
    }

    /// - Parameter onFailure: called with the first error after a success.
    package init(_ destination: Destination, onFailure: @escaping @Sendable (TokenError) -> Void = { _ in }) {
        self.onFailure = onFailure
        switch destination {
        case .file(let path, let limit): sink = Mutex(AuditFile(path: path, limit: limit))
        case .journal(let socket): sink = Mutex(AuditJournal(socket: socket))
        }
    }

    /// Queues an event for writing.
    ///
    /// Tokens that are equal, and failures that are equal, and come faster than they are written, share a line, which has their number:
    /// an app that repeats a request cannot push all other lines out of the files so quickly. Events that cannot share a line are written
    /// at once, and the first of the others too; further ones wait until `interval` has passed since the last lines were written.
    ///
    /// - Returns: the event's line; nil if equal events are not counted in it.
    @discardableResult
    package func record(_ event: AuditEvent) -> Line? {
        let (line, isUrgent) = waiting.withLock { waiting -> (Line?, Bool) in
            if event.isShared, let position = waiting.position(of: event) {
                waiting.count(event.count ?? 1, at: position)
                return (Line(batch: waiting.batch, position: position), false)
            }
            guard waiting.events.count < Self.maximumWaiting else {
                waiting.lost += event.count ?? 1
                return (nil, false)
            }
            waiting.append(event)
            let line = Line(batch: waiting.batch, position: waiting.events.count - 1)
            return (event.isShared ? line : nil, waiting.schedule(isUrgent: !event.isShared))
        }
        if isUrgent { queue.async { self.write() } }
        return line
    }

    /// Counts an event in the line of an equal one, without comparing them.
    ///
    /// - Returns: false if the line has been written: the event has to be recorded.
    package func count(_ line: Line) -> Bool {
        waiting.withLock { waiting in
            guard line.batch == waiting.batch else { return false }
            waiting.count(1, at: line.position)
            return true
        }
    }

    /// Returns when every event so far has been written, or could not be.
    ///
    /// - Parameter end: the time at which the wait ends.
    /// - Returns: false if the disk has not answered by then.
    @discardableResult
    package func flush(by end: DispatchTime = .distantFuture) async -> Bool {
        await queue.run(until: end) { self.write() }
    }

    /// Returns what keeps events from the log; nil if every event so far has been written. If some were lost, the line that says how many is
    /// tried again, so that a problem that is over is not reported.
    ///
    /// - Parameter now: the present time, in seconds since 1970.
    package func problem(at now: Int64) async -> TokenError? {
        await withCheckedContinuation { done in
            queue.async {
                self.write(at: now)
                done.resume(returning: self.waiting.withLock(\.problem))
            }
        }
    }

    /// Writes the events that wait. Those that come within `interval` are written when it has passed, unless there is an urgent one.
    ///
    /// - Parameter now: the time of a line for lost events alone; nil leaves that to the next event.
    private func write(at now: Int64? = nil) {
        let (events, lost, beginsPause) = waiting.withLock { $0.removeAll() }
        if beginsPause { queue.asyncAfter(deadline: .now() + Self.interval) { self.endPause() } }
        guard let time = events.last?.time ?? (lost > 0 ? now : nil) else {
            return waiting.withLock { $0.lost += lost }
        }
        let gap = lost > 0 ? [AuditEvent(.lost, time: time, outcome: "lost", count: lost)] : []
        let lines = gap + events
        let outcome = sink.withLock { sink in
            Result { () throws(AuditFailure) in try sink.append(lines) }
        }
        let failure = waiting.withLock { waiting -> TokenError? in
            guard case .failure(let rest) = outcome else {
                waiting.problem = nil
                return nil
            }
            waiting.lost += lines.dropFirst(rest.written).reduce(0) { $0 + ($1.count ?? 1) }
            defer { waiting.problem = rest.error }
            return waiting.problem == nil ? rest.error : nil
        }
        if let failure { onFailure(failure) }
    }

    private func endPause() {
        let hasEvents = waiting.withLock { waiting in
            waiting.isPausing = false
            return !waiting.events.isEmpty
        }
        if hasEvents { write() }
    }

    /// The time between two writes of events that may share lines. An app that asks for a token again and again costs
    /// 50 lines in a second, and not one for each request.
    private static let interval = DispatchTimeInterval.milliseconds(20)
    private static let maximumWaiting = 10_000
    /// The number of waiting events that a new one is compared with one by one.
    private static let fewWaiting = 8
}

extension AuditEvent {
    /// Whether equal events share a line.
    fileprivate var isShared: Bool { kind == .token || kind == .idToken || outcome != Self.success }

    /// The event regardless of time and count.
    fileprivate var withoutTime: AuditEvent {
        var event = self
        (event.time, event.count) = (0, nil)
        return event
    }

    /// Whether the events are equal regardless of time and count. What differs most often is compared first.
    fileprivate func isEqual(to other: AuditEvent) -> Bool {
        kind == other.kind && scopes == other.scopes && account == other.account && clientID == other.clientID
            && peer == other.peer && socket == other.socket && request == other.request
            && sharingGroup == other.sharingGroup && username == other.username && outcome == other.outcome
    }
}

/// A place for the lines of the log. Used on one thread at a time.
protocol AuditSink: AnyObject {
    /// Appends the lines of events. After an error, the first ones may have been appended.
    func append(_ events: [AuditEvent]) throws(AuditFailure)
}

/// The error of an ``AuditSink`` that has not appended all lines.
struct AuditFailure: Error {
    let error: TokenError
    /// The number of lines that have been appended.
    var written = 0
}
