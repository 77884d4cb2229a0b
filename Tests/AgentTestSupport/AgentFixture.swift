package import AccessPolicy
package import AgentClient
package import EntraEmulator
internal import Foundation
internal import Logging
internal import NIOCore
package import TestSupport
package import TokenAgent
package import TokenEndpoint
internal import TokenModel
package import TokenStore

/// An agent on a socket in a temporary folder, a client, and the emulator, which they reach over HTTP.
///
/// No time-out, lifetime or retry depends on the machine's clock, so that a loaded machine changes no result.
package struct AgentFixture: Sendable {
    package let folder: TemporaryFolder
    package let emulator: Emulator
    package let agent: AgentClient
    /// The agent's clock. The emulator's clock stands still.
    package let clock: TestClock
    /// The agent's timers, which the test advances.
    package let timers: TestTimers
    package let socketPath: String
    /// The network in which every host is the emulator; nil if the agent uses loopback addresses.
    package let internet: TestInternet?
    package let server: AgentServer

    /// Starts agent and emulator, runs a test, and stops both, also after an error.
    package static func with(
        settings: EmulatorSettings = EmulatorSettings(), usernames: [String] = [], connectionLimit: Int = 4096,
        peerLimits: PeerLimits = PeerLimits(), disk: FaultyDisk? = nil, keys: KeySettings = KeySettings(),
        importLimit: Int? = nil, rules: [PolicyRule] = [.everything], letsAppsKeepTokens: Bool = true,
        adjust: (inout AgentOptions) -> Void = { _ in }, _ body: (AgentFixture) async throws -> Void
    ) async throws {
        let options = EmulatorOptions(usernames: usernames, settings: settings)
        try await run(
            options, connectionLimit: connectionLimit, peerLimits: peerLimits, disk: disk, keys: keys,
            importLimit: importLimit, rules: rules, letsAppsKeepTokens: letsAppsKeepTokens, adjust: adjust, body)
    }

    /// Runs a test as `with` does, in a network in which every host is the emulator.
    package static func online(
        settings: EmulatorSettings = EmulatorSettings(), disk: FaultyDisk? = nil,
        _ body: (AgentFixture) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let files = TLSFiles(try TestCertificate(in: folder))
        try await run(EmulatorOptions(tls: files, settings: settings), disk: disk, body)
    }

    private static func run(
        _ emulatorOptions: EmulatorOptions, connectionLimit: Int = 4096, peerLimits: PeerLimits = PeerLimits(),
        disk: FaultyDisk?, keys: KeySettings = KeySettings(), importLimit: Int? = nil,
        rules: [PolicyRule] = [.everything], letsAppsKeepTokens: Bool = true,
        adjust: (inout AgentOptions) -> Void = { _ in }, _ body: (AgentFixture) async throws -> Void
    ) async throws {
        // Agent and peers are in one process, whose usual limit of 1,024 open files is too low.
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
                var options = try options(
                    in: folder, clock, timers, internet, connectionLimit: connectionLimit, disk: disk, keys: keys,
                    importLimit: importLimit, rules: rules)
                options.peerLimits = peerLimits
                options.letsAppsKeepTokens = letsAppsKeepTokens
                adjust(&options)
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

    /// Stops the emulator and the network.
    package func goOffline() async {
        await internet?.proxy.stop()
        await emulator.stop()
    }

    /// Stops the agent as a signal does.
    package func stop() async { await server.stop() }

    /// Stops the agent and starts another one on the same folder, as an upgrade does.
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
        connectionLimit: Int = 4096, disk: FaultyDisk? = nil, keys: KeySettings, importLimit: Int? = nil,
        rules: [PolicyRule] = [.everything]
    ) throws -> AgentOptions {
        var logger = Logger(label: "agent") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        var options = AgentOptions(
            socketPath: folder.file("agent.sock"), stateDirectory: folder.file("state"), keys: keys,
            allowsLoopbackHTTP: true, network: try internet?.network() ?? NetworkSettings(environment: [:]),
            policy: PeerPolicy(userID: geteuid(), rules: rules), connectionLimit: connectionLimit, now: { clock.now },
            logger: logger)
        options.storeVFS = disk?.name
        options.timers = timers.timers
        options.uptime = { clock.uptime }
        options.httpTiming = .patient
        if let importLimit { options.importLimit = importLimit }
        return options
    }
}

extension PolicyRule {
    /// Allows every request of every peer, without confirmation.
    package static let everything = PolicyRule(requests: .all, effect: .allow)
}

extension ReadConfiguration {
    /// A configuration that differs from that of the fixture in its rules.
    package init(rules: [PolicyRule]) {
        self.init(
            rules: rules, auditsNames: false, allowsLoopbackHTTP: true,
            report: ReloadConfiguration.Reply(files: [], applied: [], awaitingRestart: []))
    }
}

extension HTTPTiming {
    /// Time-outs longer than any test, and retries without a delay.
    package static let patient = HTTPTiming(
        connect: .seconds(600), total: .seconds(600), retryDelay: .zero, browser: .seconds(600))
}

extension PeerLimits {
    /// The limits with turns that are longer than any test: a connection continues as long as it can.
    package static var withLongTurns: PeerLimits {
        var limits = PeerLimits()
        limits.turn = .hours(1)
        return limits
    }
}
