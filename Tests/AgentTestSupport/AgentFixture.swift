package import AgentClient
internal import AsyncHTTPClient
package import EntraEmulator
internal import Foundation
internal import Logging
internal import NIOCore
internal import TokenAgent
internal import TokenEndpoint
internal import TokenModel
package import TokenStore

/// A real agent on a real socket in a folder of its own, a real client, and the emulator over real HTTP.
package struct AgentFixture: Sendable {
    package let folder: TemporaryFolder
    package let emulator: EntraEmulator
    package let agent: AgentClient
    package let clock: TestClock
    package let socketPath: String
    let server: AgentServer

    /// Runs a test with everything started, and stops everything on every way out.
    package static func with(
        settings: EmulatorSettings = EmulatorSettings(), usernames: [String] = [], connectionLimit: Int = 4096,
        disk: FaultyDisk? = nil, keys: KeySettings = KeySettings(), _ body: (AgentFixture) async throws -> Void
    ) async throws {
        // Agent and peers are one process here, and a shell usually allows it 1,024 files.
        ResourceLimits.raiseOpenFiles()
        let folder = try TemporaryFolder()
        let emulator = try await EntraEmulator.start(EmulatorOptions(usernames: usernames, settings: settings))
        do {
            let clock = TestClock()
            let server = try await start(
                in: folder, clock: clock, connectionLimit: connectionLimit, disk: disk, keys: keys)
            let path = server.options.socketPath
            let fixture = AgentFixture(
                folder: folder, emulator: emulator, agent: AgentClient(socketPath: path), clock: clock,
                socketPath: path, server: server)
            do {
                try await body(fixture)
                await server.stop(patience: 1)
            } catch {
                await server.stop(patience: 1)
                throw error
            }
            await emulator.stop()
        } catch {
            await emulator.stop()
            throw error
        }
    }

    /// Stops the agent and starts another on the same folder, as an upgrade does.
    package func restarted(keys: KeySettings = KeySettings(), _ body: (AgentFixture) async throws -> Void) async throws
    {
        await server.stop(patience: 1)
        let next = try await Self.start(in: folder, clock: clock, connectionLimit: 4096, keys: keys)
        let fixture = AgentFixture(
            folder: folder, emulator: emulator, agent: agent, clock: clock, socketPath: socketPath, server: next)
        do {
            try await body(fixture)
            await next.stop(patience: 1)
        } catch {
            await next.stop(patience: 1)
            throw error
        }
    }

    private static func start(
        in folder: TemporaryFolder, clock: TestClock, connectionLimit: Int, disk: FaultyDisk? = nil,
        keys: KeySettings = KeySettings()
    ) async throws -> AgentServer {
        var logger = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), keys: keys,
            allowsLoopbackHTTP: true, network: try NetworkSettings(environment: [:]),
            policy: PeerPolicy(userID: geteuid()), connectionLimit: connectionLimit, now: { clock.now }, logger: logger)
        options.storeVFS = disk?.name
        return try await AgentServer.start(options)
    }
}
