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
        let wakeup =
            if canSend {
                try await LoopWakeup.open(on: loop)
            } else {
                try await LoopWakeup.open(on: loop, send: { _ in false })
            }
        let isCalled = loop.makePromise(of: Void.self)
        try await loop.submit {
            wakeup.value.setHandler { isCalled.succeed() }
            wakeup.value.post()
        }.get()
        try await isCalled.futureResult.get()
        try await loop.submit { wakeup.value.end() }.get()
    }
}
