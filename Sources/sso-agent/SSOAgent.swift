internal import AgentConfiguration
internal import AgentSocket
internal import ArgumentParser
internal import Logging
internal import PosixFiles
internal import TokenAgent
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The agent's program: options, configuration and signals. The agent itself is in `TokenAgent`.
@main
struct SSOAgent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sso-agent",
        abstract: "Share one sign-in among all of a user's apps: serve tokens on a Unix socket.",
        discussion: """
            Runs in the foreground, and prints “listening on PATH” on standard error when it accepts requests. SIGTERM \
            and SIGINT stop it after the requests in progress; a second one stops it at once.

            Environment: SSO_AGENT_SOCK, SSO_AGENT_STATE_DIR, SSO_AGENT_CONFIG, CREDENTIALS_DIRECTORY, HTTPS_PROXY, \
            NO_PROXY, SSL_CERT_FILE.
            """,
        version: ProductVersion.text)

    @Option(name: .customLong("socket"), help: "The socket to listen on.")
    var socketPath: String?

    @Option(name: .customLong("state-dir"), help: "The folder of the token store.")
    var stateDirectory: String?

    @Option(help: "The configuration file (TOML).")
    var config: String?

    @Flag(help: "Accept http:// authorities on this machine: for emulators and tests.")
    var allowLoopbackHttp = false

    @Option(
        name: .customLong("passphrase-fd"),
        help: "A file descriptor from which one line is read: the passphrase of a locked store.")
    var passphraseDescriptor: Int32?

    @Flag(help: "Allow debuggers and core dumps, which could show tokens.")
    var allowDebugging = false

    @Option(help: "trace, debug, info, notice, warning, error or critical.", transform: Self.level)
    var logLevel: Logger.Level = .notice

    func run() async throws {
        do throws(TokenError) {
            try await serve()
        } catch {
            StandardError.print("sso-agent: \(error.message)")
            throw ExitCode.failure
        }
    }

    private func serve() async throws(TokenError) {
        if !allowDebugging, !ResourceLimits.forbidInspection() {
            StandardError.print("sso-agent: debuggers and core dumps cannot be disabled on this system")
        }
        var options = try options()
        // The agent needs some descriptors itself: for its store, its listeners and its connections to token endpoints.
        options.connectionLimit = min(options.connectionLimit, max(ResourceLimits.raiseOpenFiles() - 128, 16))
        let signals = StopSignals()
        let server = try await AgentServer.start(options)
        options.keys.passphrase = nil
        StandardError.print("listening on \(options.socketPath)")
        await signals.first()
        await server.stop()
    }

    private func options() throws(TokenError) -> AgentOptions {
        let environment = AgentEnvironment.current
        let configuration = try Configuration(
            path: config ?? environment.configFile, isRequired: config != nil || environment.namesConfigFile)
        var logger = Logger(label: "sso-agent") { TerminalLogHandler(label: $0) }
        logger.logLevel = logLevel
        let variables = ProcessInfo.processInfo.environment
        // Checked before it is read: the reading of a pipe could wait for ever.
        if let caFile = (configuration.caFile ?? variables["SSL_CERT_FILE"])?.trimmedNonEmpty {
            try Self.requireTrusted(caFile)
        }
        return AgentOptions(
            socketPath: absolute(socketPath ?? environment.socketPath),
            stateDirectory: absolute(stateDirectory ?? environment.stateDirectory),
            keys: KeySettings(
                credentialsDirectory: variables["CREDENTIALS_DIRECTORY"],
                passphrase: try passphraseDescriptor.map(PassphraseLine.readAndClose)),
            allowsLoopbackHTTP: allowLoopbackHttp,
            network: try NetworkSettings(
                environment: variables, caFile: configuration.caFile, proxy: configuration.proxy),
            policy: PeerPolicy(userID: FileStatus.effectiveUser), now: { Int64(Date().timeIntervalSince1970) },
            logger: logger)
    }

    /// Refuses a file of certificate authorities that another user could change. One that does not exist is refused later.
    private static func requireTrusted(_ caFile: String) throws(TokenError) {
        do throws(TrustedFileError) {
            _ = try FileDescriptor.trusted(caFile)
        } catch {
            if error.isFileMissing { return }
            throw TokenError(
                .invalidDeveloperParameter, "the certificate authorities in \(caFile) cannot be used: \(error)")
        }
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else { throw ValidationError("“\(name)” is not a log level") }
        return level
    }

    private func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }
}

/// Messages for the user who has started the agent.
enum StandardError {
    static func print(_ line: String) { StandardStream.error.write(line + "\n") }
}
