internal import NIOCore
internal import Synchronization

/// Spaces the answers of the metrics socket: one in each interval, in the order of the requests.
///
/// A connection that is closed loses its place. A request therefore waits for one interval per open connection at most, however many
/// requests others have sent and given up.
final class ScrapeTurns: Sendable {
    private struct Request {
        let connection: ObjectIdentifier
        let turn: EventLoopPromise<Void>
    }

    private struct State {
        var waiting: [Request] = []
        /// The time before which no further request has its turn.
        var next = NIODeadline.uptimeNanoseconds(0)
        /// Whether a timer will give the first waiting request its turn.
        var isScheduled = false
    }

    private let interval: TimeAmount
    private let state = Mutex(State())

    init(interval: TimeAmount) { self.interval = interval }

    /// Completes when the request of a connection is to be answered; fails if the connection is closed before. A connection has one
    /// request, and all connections have one event loop.
    func turn(of channel: any Channel) -> EventLoopFuture<Void> {
        let turn = channel.eventLoop.makePromise(of: Void.self)
        let connection = ObjectIdentifier(channel)
        state.withLock { $0.waiting.append(Request(connection: connection, turn: turn)) }
        schedule(on: channel.eventLoop)
        channel.closeFuture.whenComplete { _ in self.remove(connection) }
        return turn.futureResult
    }

    private func remove(_ connection: ObjectIdentifier) {
        let removed = state.withLock { state in
            state.waiting.firstIndex { $0.connection == connection }.map { state.waiting.remove(at: $0) }
        }
        removed?.turn.fail(ChannelError.ioOnClosedChannel)
    }

    private func schedule(on loop: any EventLoop) {
        let due = state.withLock { state -> NIODeadline? in
            guard !state.isScheduled, !state.waiting.isEmpty else { return nil }
            state.isScheduled = true
            return max(state.next, .now())
        }
        if let due { loop.scheduleTask(deadline: due) { self.grantNext(on: loop) } }
    }

    private func grantNext(on loop: any EventLoop) {
        let request = state.withLock { state -> Request? in
            state.isScheduled = false
            guard !state.waiting.isEmpty else { return nil }
            state.next = .now() + interval
            return state.waiting.removeFirst()
        }
        request?.turn.succeed()
        schedule(on: loop)
    }
}
