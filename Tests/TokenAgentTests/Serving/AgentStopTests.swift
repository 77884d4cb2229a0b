internal import AccessPolicy
internal import Foundation
internal import NIOCore
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// An agent that stops.
@Suite(.bounded) struct AgentStopTests {
    /// The store is closed, and the last line of the audit log written, before the process is ended.
    @Test func waitsNoLongerThanTheLongestStop() async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: LogCollector.Messages().logger())
        let recorder = DelayRecorder()
        options.timers = recorder.timers
        let server = try await AgentServer.start(options)
        recorder.begin()
        await server.stop()
        #expect(recorder.seconds.reduce(0, +) + AgentServer.diskTime == AgentServer.longestStop)
        // The process is ended after 60 seconds.
        #expect(AgentServer.longestStop < 60)
    }

    @Test(arguments: [
        ("packaging/systemd/sso-agent.service", "TimeoutStopSec="),
        ("packaging/launchd/sso-agent.plist", "<key>ExitTimeOut</key>\n\t<integer>"),
    ])
    func hasEndedBeforeAServiceManagerEndsIt(file: String, setting: String) throws {
        let text = try String(contentsOfFile: PackageFolder.path(file), encoding: .utf8)
        let place = try #require(text.ranges(of: setting).first)
        let seconds = try #require(Int64(text[place.upperBound...].prefix(while: \.isNumber)))
        #expect(seconds > AgentServer.longestStop + 1)
    }
}

/// Timers that record their delays.
private final class DelayRecorder: Sendable {
    private let delays = Mutex<[Int64]?>(nil)

    /// The delays since ``begin()`` was called.
    var seconds: [Int64] { delays.withLock { $0 ?? [] } }

    func begin() { delays.withLock { $0 = [] } }

    var timers: Timers {
        Timers { loop, delay, work in
            self.delays.withLock { $0?.append(delay.nanoseconds / 1_000_000_000) }
            return Timers.system.schedule(loop, delay, work)
        }
    }
}
