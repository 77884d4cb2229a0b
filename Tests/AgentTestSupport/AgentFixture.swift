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
    /// How the agent comes to the emulator; nil where that is simply on this machine.
    package var internet: TestInternet?
    let server: AgentServer

    /// Runs a test with everything started, and stops everything on every way out.
    package static func with(
        settings: EmulatorSettings = EmulatorSettings(), usernames: [String] = [], connectionLimit: Int = 4096,
        disk: FaultyDisk? = nil, timers: TestTimers? = nil, keys: KeySettings = KeySettings(),
        importLimit: Int? = nil, _ body: (AgentFixture) async throws -> Void
    ) async throws {
        // Agent and peers are one process here, and a shell usually allows it 1,024 files.
        ResourceLimits.raiseOpenFiles()
        let folder = try TemporaryFolder()
        let emulator = try await EntraEmulator.start(EmulatorOptions(usernames: usernames, settings: settings))
        do {
            let clock = TestClock()
            let server = try await start(
                in: folder, clock: clock, connectionLimit: connectionLimit, disk: disk, timers: timers, keys: keys,
                importLimit: importLimit)
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

    /// The same in an internet where every host is the emulator.
    package static func online(
        settings: EmulatorSettings = EmulatorSettings(), disk: FaultyDisk? = nil,
        _ body: (AgentFixture) async throws -> Void
    ) async throws {
        ResourceLimits.raiseOpenFiles()
        let folder = try TemporaryFolder()
        let files = try TestCertificate.write(to: folder)
        let emulator = try await EntraEmulator.start(EmulatorOptions(tls: files, settings: settings))
        do {
            let internet = try await TestInternet.start(emulator, files: files)
            let clock = TestClock()
            let server = try await start(
                in: folder, clock: clock, connectionLimit: 4096, internet: internet, disk: disk)
            let path = server.options.socketPath
            let fixture = AgentFixture(
                folder: folder, emulator: emulator, agent: AgentClient(socketPath: path), clock: clock,
                socketPath: path, internet: internet, server: server)
            do {
                try await body(fixture)
                await fixture.stopAll()
            } catch {
                await fixture.stopAll()
                throw error
            }
        } catch {
            await emulator.stop()
            throw error
        }
    }

    /// Stops the emulator and the way to it.
    package func goOffline() async {
        await internet?.proxy.stop()
        await emulator.stop()
    }

    private func stopAll() async {
        await server.stop(patience: 1)
        await internet?.proxy.stop()
        await emulator.stop()
    }

    /// Stops the agent and starts another on the same folder, as an upgrade does.
    package func restarted(keys: KeySettings = KeySettings(), _ body: (AgentFixture) async throws -> Void) async throws
    {
        await server.stop(patience: 1)
        let next = try await Self.start(
            in: folder, clock: clock, connectionLimit: 4096, internet: internet, keys: keys)
        let fixture = AgentFixture(
            folder: folder, emulator: emulator, agent: agent, clock: clock, socketPath: socketPath,
            internet: internet, server: next)
        do {
            try await body(fixture)
            await next.stop(patience: 1)
        } catch {
            await next.stop(patience: 1)
            throw error
        }
    }

    private static func start(
        in folder: TemporaryFolder, clock: TestClock, connectionLimit: Int, internet: TestInternet? = nil,
        disk: FaultyDisk? = nil, timers: TestTimers? = nil, keys: KeySettings = KeySettings(), importLimit: Int? = nil
    ) async throws -> AgentServer {
        var logger = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), keys: keys,
            allowsLoopbackHTTP: true, network: try internet?.network() ?? NetworkSettings(environment: [:]),
            policy: PeerPolicy(userID: geteuid()), connectionLimit: connectionLimit, now: { clock.now }, logger: logger)
        options.storeVFS = disk?.name
        if let timers { options.timers = timers.timers }
        if let importLimit { options.importLimit = importLimit }
        return try await AgentServer.start(options)
    }
}
