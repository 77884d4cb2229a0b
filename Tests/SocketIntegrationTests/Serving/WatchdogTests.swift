internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenAgent

/// The signs of life that the service manager gets.
@Suite(.bounded) struct WatchdogTests {
    /// A timer of the loop that serves requests sends the signs of life: a loop that hangs runs none.
    @Test func reportsFromItsEventLoop() async throws {
        let folder = try TemporaryFolder()
        let manager = try DatagramSocket(at: folder.file("notify"))
        let notifier = try ServiceNotifier(address: folder.file("notify"), watchdog: 30_000_000)
        try await AgentFixture.with(adjust: { $0.notifier = notifier }) { f in
            #expect(try await offPool { try manager.receive() }.hasPrefix("READY=1\n"))
            for _ in 1...3 {
                #expect(try await offPool { try manager.receive() } == "WATCHDOG=1")
                // Twice in the time after which the manager ends the process.
                try await f.timers.advance(by: 15)
            }
            #expect(try await offPool { try manager.receive() } == "WATCHDOG=1")
        }
        #expect(try await offPool { try manager.receive() } == "STOPPING=1")
    }
}
