internal import Dispatch
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

    /// The name of the current file in the state directory.
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

    private struct Waiting {
        var events: [AuditEvent] = []
        /// The position in `events` of each event that equal ones are counted in, regardless of time and count. Empty while few
        /// events wait, which are compared one by one: nearly every event equals one of them, and a comparison costs much less than
        /// a hash.
        var positions: [AuditEvent: Int] = [:]
        /// The number of events that were lost since the last line.
        var lost = 0
        var isScheduled = false
        var isFailing = false

        /// The position of the event that an equal one is counted in; nil if there is none.
        func position(of event: AuditEvent) -> Int? {
            guard events.count > AuditWriter.fewWaiting else {
                return events.lastIndex { $0.isShared && $0.isEqual(to: event) }
            }
            return positions[event.withoutTime]
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
    /// Tokens and refusals that are equal, and come faster than they are written, share a line, which has their number: an app
    /// that repeats a request cannot push all other lines out of the files so quickly.
    package func record(_ event: AuditEvent) {
        let isFirst = waiting.withLock { waiting in
            if event.isShared, let position = waiting.position(of: event) {
                waiting.events[position].count = (waiting.events[position].count ?? 1) + (event.count ?? 1)
                return false
            }
            guard waiting.events.count < Self.maximumWaiting else {
                waiting.lost += event.count ?? 1
                return false
            }
            waiting.append(event)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if isFirst { queue.async { self.write() } }
    }

    /// Returns when every event so far has been written, or could not be.
    package func flush() async {
        await withCheckedContinuation { done in
            queue.async {
                self.write()
                done.resume()
            }
        }
    }

    private func write() {
        let (events, lost) = waiting.withLock { waiting in
            defer { (waiting.events, waiting.positions, waiting.lost, waiting.isScheduled) = ([], [:], 0, false) }
            return (waiting.events, waiting.lost)
        }
        guard let last = events.last else { return waiting.withLock { $0.lost += lost } }
        let gap = lost > 0 ? [AuditEvent(.lost, time: last.time, outcome: "lost", count: lost)] : []
        let outcome = sink.withLock { sink in
            Result { () throws(TokenError) in try sink.append(gap + events) }
        }
        let failure = waiting.withLock { waiting -> TokenError? in
            guard case .failure(let error) = outcome else {
                waiting.isFailing = false
                return nil
            }
            waiting.lost += lost + events.count
            defer { waiting.isFailing = true }
            return waiting.isFailing ? nil : error
        }
        if let failure { onFailure(failure) }
    }

    private static let maximumWaiting = 10_000
    /// The number of waiting events that a new one is compared with one by one.
    private static let fewWaiting = 8
}

extension AuditEvent {
    /// Whether equal events share a line.
    fileprivate var isShared: Bool { kind == .token || kind == .refusal }

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
    /// Appends the lines of events. A file has all of them afterwards, or none.
    func append(_ events: [AuditEvent]) throws(TokenError)
}
