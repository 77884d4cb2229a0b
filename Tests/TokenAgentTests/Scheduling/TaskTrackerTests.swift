internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

@Suite(.bounded) struct TaskTrackerTests {
    private let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()

    /// The function of a timer, for one, belongs to no actor.
    @Test func runsATaskOnTheEventLoopWhereverItIsStarted() async throws {
        let loop = loop
        let places = try await loop.flatSubmit {
            TaskTracker(loop: loop, timers: .system).start { () async throws(TokenError) in
                let before = loop.inEventLoop
                await Self.elsewhere()
                return [before, loop.inEventLoop]
            }
        }.get()
        #expect(try places.get() == [true, true])
    }

    @Test func isIdleOnceEveryTaskHasEnded() async throws {
        let loop = loop
        let (gates, idle) = try await loop.submit {
            let tracker = TaskTracker(loop: loop, timers: .system)
            let gates = [loop.makePromise(of: Void.self), loop.makePromise(of: Void.self)]
            for gate in gates {
                tracker.start { () async throws(TokenError) in _ = try? await gate.futureResult.get() }
            }
            return (gates, tracker.whenIdle())
        }.get()
        let open = NIOLoopBoundBox.makeBoxSendingValue(gates.count, eventLoop: loop)
        let openAtTheEnd = idle.map { open.value }
        for gate in gates {
            try await loop.submit { open.value -= 1 }.get()
            gate.succeed()
        }
        #expect(try await openAtTheEnd.get() == 0)
    }

    @concurrent private static func elsewhere() async {}
}
