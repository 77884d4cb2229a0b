internal import AccessPolicy
internal import AgentTestSupport
internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenWire

@testable internal import TokenAgent

/// Signals that have a running agent read its configuration again.
@Suite(.bounded) struct ConfigurationReloadTests {
    /// The signal that stops the agent may come next.
    @Test func beginsAReloadWithoutWaitingForTheFiles() async throws {
        let folder = try TemporaryFolder()
        let (begun, mayEnd) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        let server = try await AgentServer.start(options(folder, begun, mayEnd))
        server.beginReload()
        await begun.next()
        mayEnd.signal()
        await server.stop(finishesReplies: false)
    }

    /// The time-outs of the stop never pass here.
    @Test func stopsWhileTheFilesDoNotAnswer() async throws {
        let (folder, timers) = (try TemporaryFolder(), TestTimers())
        let (begun, mayEnd) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        var options = try self.options(folder, begun, mayEnd)
        options.timers = timers.timers
        let server = try await AgentServer.start(options)
        server.beginReload()
        await begun.next()
        // This one waits for the other.
        server.beginReload()
        await server.stop()
        #expect(begun.count == 0, "no reading begins when the agent stops")
        mayEnd.signal()
    }

    /// Not as for a sign-in or an import that the app has ended.
    @Test func tellsWhyAReloadEndsWhenTheAgentStops() async throws {
        let (folder, timers) = (try TemporaryFolder(), TestTimers())
        let (begun, mayEnd) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        var options = try self.options(folder, begun, mayEnd)
        options.timers = timers.timers
        let server = try await AgentServer.start(options)
        let peer = try await offPool { try RawPeer(folder.file("agent.sock")) }
        try peer.write(ReloadConfiguration())
        await begun.next()
        await server.stop()
        let reply = try #require(try await offPool { try peer.reply() })
        #expect(try reply.failure?.code == .cancelled)
        mayEnd.signal()
    }

    /// - Parameter mayEnd: ends the reading of the configuration, with an error.
    private func options(
        _ folder: TemporaryFolder, _ begun: Mailbox<Void>, _ mayEnd: DispatchSemaphore
    ) throws -> AgentOptions {
        let clock = TestClock()
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: LogCollector.Messages().logger())
        options.readConfiguration = { () throws(TokenError) in
            begun.put(())
            mayEnd.wait()
            throw TokenError(.invalidDeveloperParameter, "the file system does not answer")
        }
        return options
    }
}
