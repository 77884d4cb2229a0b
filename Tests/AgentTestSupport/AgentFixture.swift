package import AgentClient
package import EntraEmulator
internal import Foundation
internal import Logging
internal import NIOCore
package import TestSupport
internal import TokenAgent
package import TokenEndpoint
internal import TokenModel
package import TokenStore

/// A real agent on a real socket in a folder of its own, a real client, and the emulator over real HTTP.
///
/// No time-out, lifetime or retry of theirs follows the machine's clock: a loaded machine must not change what a test sees.
package struct AgentFixture: Sendable {
    package let folder: TemporaryFolder
    package let emulator: Emulator
    package let agent: AgentClient
    /// The agent's clock. The emulator's stands still.
    package let clock: TestClock
    /// What the agent wants to have done later, which is done when the test says so.
    package let timers: TestTimers
    package let socketPath: String
    /// How the agent comes to the emulator; nil where that is simply on this machine.
    package let internet: TestInternet?
    let server: AgentServer

    /// Runs a test with everything started, and stops everything on every way out.
    package static func with(
        settings: EmulatorSettings = EmulatorSettings(), usernames: [String] = [], connectionLimit: Int = 4096,
        disk: FaultyDisk? = nil, keys: KeySettings = KeySettings(), importLimit: Int? = nil,
        _ body: (AgentFixture) async throws -> Void
    ) async throws {
        let options = EmulatorOptions(usernames: usernames, settings: settings)
        try await run(
            options, connectionLimit: connectionLimit, disk: disk, keys: keys, importLimit: importLimit, body)
    }

    /// The same in an internet where every host is the emulator.
    package static func online(
        settings: EmulatorSettings = EmulatorSettings(), disk: FaultyDisk? = nil,
        _ body: (AgentFixture) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let files = TLSFiles(try TestCertificate(in: folder))
        try await run(EmulatorOptions(tls: files, settings: settings), disk: disk, body)
    }

    private static func run(
        _ emulatorOptions: EmulatorOptions, connectionLimit: Int = 4096, disk: FaultyDisk?,
        keys: KeySettings = KeySettings(), importLimit: Int? = nil, _ body: (AgentFixture) async throws -> Void
    ) async throws {
        // Agent and peers are one process here, and a shell usually allows it 1,024 files.
        ResourceLimits.raiseOpenFiles()
        var emulatorOptions = emulatorOptions
        let now = Date()
        emulatorOptions.now = { now }
        let emulator = try await Emulator.start(emulatorOptions)
        try await withCleanup {
            var internet: TestInternet?
            if let files = emulatorOptions.tls { internet = try await TestInternet.start(emulator, files: files) }
            try await withCleanup {
                let (folder, clock, timers) = (try TemporaryFolder(), TestClock(), TestTimers())
                let options = try options(
                    in: folder, clock, timers, internet, connectionLimit: connectionLimit, disk: disk, keys: keys,
                    importLimit: importLimit)
                try await serve(options) { server in
                    let client = AgentClient(socketPath: options.socketPath, timeout: .seconds(600))
                    try await body(
                        AgentFixture(
                            folder: folder, emulator: emulator, agent: client, clock: clock, timers: timers,
                            socketPath: options.socketPath, internet: internet, server: server))
                }
            } cleanUp: {
                await internet?.proxy.stop()
            }
        } cleanUp: {
            await emulator.stop()
        }
    }

    /// Stops the emulator and the way to it.
    package func goOffline() async {
        await internet?.proxy.stop()
        await emulator.stop()
    }

    /// Stops the agent and starts another on the same folder, as an upgrade does.
    package func restarted(keys: KeySettings = KeySettings(), _ body: (AgentFixture) async throws -> Void) async throws
    {
        await server.stop(finishesReplies: false)
        let timers = TestTimers()
        let options = try Self.options(in: folder, clock, timers, internet, keys: keys)
        try await Self.serve(options) { next in
            try await body(
                AgentFixture(
                    folder: folder, emulator: emulator, agent: agent, clock: clock, timers: timers,
                    socketPath: socketPath, internet: internet, server: next))
        }
    }

    private static func serve(_ options: AgentOptions, _ body: (AgentServer) async throws -> Void) async throws {
        let server = try await AgentServer.start(options)
        try await withCleanup {
            try await body(server)
        } cleanUp: {
            await server.stop(finishesReplies: false)
        }
    }

    private static func options(
        in folder: TemporaryFolder, _ clock: TestClock, _ timers: TestTimers, _ internet: TestInternet?,
        connectionLimit: Int = 4096, disk: FaultyDisk? = nil, keys: KeySettings, importLimit: Int? = nil
    ) throws -> AgentOptions {
        var logger = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), keys: keys,
            allowsLoopbackHTTP: true, network: try internet?.network() ?? NetworkSettings(environment: [:]),
            policy: PeerPolicy(userID: geteuid()), connectionLimit: connectionLimit, now: { clock.now }, logger: logger)
        options.storeVFS = disk?.name
        options.timers = timers.timers
        options.httpTiming = .patient
        if let importLimit { options.importLimit = importLimit }
        return options
    }
}

extension HTTPTiming {
    /// Waits for answers longer than any test should take, and repeats a request at once.
    package static let patient = HTTPTiming(
        connect: .seconds(600), whole: .seconds(600), beforeRepeating: .zero, browser: .seconds(600))
}
