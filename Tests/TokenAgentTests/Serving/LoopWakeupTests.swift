internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// The calls with which an event loop continues the work of peers.
@Suite(.bounded) struct LoopWakeupTests {
    /// The system may have no memory for the byte. The queue of the peers posts once, and waits for the call.
    @Test(arguments: [true, false])
    func callsTheFunctionWhetherOrNotTheByteCanBeSent(canSend: Bool) async throws {
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let isCalled = loop.makePromise(of: Void.self)
        let wakeup = try await loop.submit {
            let wakeup = canSend ? LoopWakeup(on: loop) : LoopWakeup(on: loop, send: { _ in false })
            wakeup.setHandler { isCalled.succeed() }
            wakeup.post()
            return NIOLoopBound(wakeup, eventLoop: loop)
        }.get()
        try await isCalled.futureResult.get()
        try await loop.submit { wakeup.value.end() }.get()
    }

    /// A byte that was sent before the end, and a timer, call nothing afterwards.
    @Test(arguments: [true, false])
    func callsNothingOnceItHasEnded(canSend: Bool) async throws {
        let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let isCalled = NIOLoopBoundBox.makeBoxSendingValue(false, eventLoop: loop)
        let later = try await loop.submit {
            let wakeup = canSend ? LoopWakeup(on: loop) : LoopWakeup(on: loop, send: { _ in false })
            wakeup.setHandler { isCalled.value = true }
            wakeup.post()
            wakeup.end()
            wakeup.post()
            // Later than those of the wake-up, and after a look at every connection.
            return loop.scheduleTask(in: .milliseconds(5)) { isCalled.value }
        }.get()
        #expect(try await !later.futureResult.get())
    }
}
