internal import AccessPolicy
internal import Dispatch
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// Signals that have a running agent read its configuration again.
@Suite(.bounded) struct ConfigurationReloadTests {
    /// The signal that stops the agent may come next.
    @Test func beginsAReloadWithoutWaitingForTheFiles() async throws {
        let (folder, clock) = (try TemporaryFolder(), TestClock())
        let (begun, mayEnd) = (Mailbox<Void>(), DispatchSemaphore(value: 0))
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: LogCollector.Messages().logger())
        options.readConfiguration = { () throws(TokenError) in
            begun.put(())
            mayEnd.wait()
            throw TokenError(.invalidDeveloperParameter, "the file system does not answer")
        }
        let server = try await AgentServer.start(options)
        server.beginReload()
        await begun.next()
        mayEnd.signal()
        await server.stop(finishesReplies: false)
    }
}
