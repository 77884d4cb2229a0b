internal import AccessPolicy
internal import AgentConfiguration
internal import AgentSandbox
internal import AgentSocket
internal import ArgumentParser
internal import AuditLog
internal import CAgentSystem
internal import CWipingHeap
internal import Dispatch
internal import Logging
internal import PosixFiles
internal import TokenAgent
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The agent's program: options, configuration, the process's restrictions, and signals. The agent itself is in `TokenAgent`.
///
/// It is no asynchronous command, because the process restricts its files while it has one thread.
@main
struct SSOAgent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sso-agent",
        abstract: "Share one sign-in to Microsoft Entra among all of a user's apps, on a Unix socket.",
        discussion: """
            Runs in the foreground, and prints “listening on PATH” on standard error when it accepts requests. SIGTERM \
            and SIGINT stop it after the requests in progress; a second one stops it at once. SIGHUP has it read its \
            configuration again, unless its terminal has been closed and the signal comes from the kernel or from a process \
            of its session, such as its shell: then it stops.

            Environment: SSO_AGENT_SOCK, SSO_AGENT_STATE_DIR, SSO_AGENT_CONFIG, SSO_AGENT_SYSTEM_CONFIG, CREDENTIALS_DIRECTORY, \
            HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE.

            The configuration is /etc/sso-agent/config.toml, then the files *.toml of /etc/sso-agent/conf.d in the order of \
            their names, then the user's, whose values replace those before.

            Examples:
              systemctl --user enable --now sso-agent.socket
              sso-agent --check-config
              sso-agent &
            """,
        version: ProductVersion.text)

    @Option(name: .customLong("socket"), help: "The socket to listen on.", completion: .file())
    var socketPath: String?

    @Option(name: .customLong("state-dir"), help: "The folder of the token store.", completion: .directory)
    var stateDirectory: String?

    @Option(help: "A socket for the agent's measurements, in Prometheus' format: GET /metrics.", completion: .file())
    var metricsSocket: String?

    @Option(help: "The user's configuration file (TOML).", completion: .file())
    var config: String?

    @Flag(help: "Check the configuration, name its files, and end: with status 0 if it can be used, else with 1.")
    var checkConfig = false

    @Flag(
        help:
            "Go on in the background once the agent listens: how apps start it. Not as root, and not with start_on_demand = false in the table [agent] of the configuration."
    )
    var onDemand = false

    @Flag(help: "Accept http:// authorities on this machine: for emulators and tests.")
    var allowLoopbackHttp = false

    @Option(
        name: .customLong("passphrase-fd"),
        help: "A file descriptor from which one line is read: the passphrase of a locked store.")
    var passphraseDescriptor: Int32?

    @Option(
        name: .customLong("require-key-source"),
        help: "Open a store only if its key comes from here: file, credential, secret-service or passphrase.",
        completion: .list(KeySource.allCases.map(\.name)),
        transform: KeySource.named)
    var requiredSource: KeySource?

    @Flag(
        help:
            "Seal and use a store of a version before 0.1.0, which anyone who may write to its folder can have made."
    )
    var acceptUnsealedStore = false

    @Option(
        help: "Refuse an earlier copy of the store: count its changes with this TPM 2.0, such as /dev/tpmrm0.",
        completion: .file())
    var rollbackCounter: String?

    @Flag(help: "Accept the present store, whatever the TPM has counted, and count it anew.")
    var resetRollbackCounter = false

    @Flag(help: "Allow debuggers and core dumps, which could show tokens.")
    var allowDebugging = false

    @Flag(help: "Leave the process unrestricted: if the agent does not find a file or a program on this system.")
    var noSandbox = false

    @Option(
        help: "trace, debug, info, notice, warning, error or critical.",
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: Self.level)
    var logLevel: Logger.Level = Self.defaultLogLevel

    static let defaultLogLevel = Logger.Level.notice

    static func main() {
        agent_hold_standard_streams()
        do {
            if let problem = ProgramArguments.problem { throw ValidationError(problem) }
            var command = try SSOAgent(plain: CommandLine.arguments.dropFirst()) ?? parse()
            try command.run()
        } catch {
            // The text of an error of the command line has parts of the arguments.
            StandardStream.widenHelp()
            let (status, text) = (exitCode(for: error), fullMessage(for: error))
            if !text.isEmpty { (status.isSuccess ? StandardStream.output : .error).write(text + "\n") }
            exit(withError: status)
        }
    }

    func validate() throws {
        guard !resetRollbackCounter || rollbackCounter != nil else {
            throw ValidationError("--reset-rollback-counter needs --rollback-counter with the path of the TPM.")
        }
        // Before this process opens a file, which could get the number.
        if let passphraseDescriptor, fcntl(passphraseDescriptor, F_GETFD) < 0 {
            throw ValidationError("--passphrase-fd: file descriptor \(passphraseDescriptor) is not open.")
        }
        guard !onDemand || passphraseDescriptor == nil else {
            throw ValidationError(
                "--on-demand and --passphrase-fd exclude each other: an agent in the background has no open files.")
        }
    }

    mutating func run() throws {
        do throws(TokenError) {
            if checkConfig { return try checkConfiguration() }
            if onDemand {
                makePathsAbsolute()
                try Self.detach()
            }
            let (options, sandbox) = try prepare()
            try runUntilStopped(options, sandbox)
        } catch {
            StandardStream.error.write(error.problem.printed(by: "sso-agent") + "\n")
            throw ExitCode.failure
        }
    }

    /// Does what is possible only with one thread, or before the process is restricted: disables debuggers, reads the configuration,
    /// starts the helper, makes the folders, and restricts the process.
    private func prepare() throws(TokenError) -> (AgentOptions, ProcessSandbox?) {
        if !allowDebugging, !ResourceLimits.forbidInspection() {
            StandardStream.error.write("sso-agent: debuggers and core dumps cannot be disabled on this system\n")
        }
        // First of all, since the helper gets this environment.
        let handover = try ServiceHandover.receive()
        let variables = ProcessInfo.processInfo.environment
        let environment = AgentEnvironment(variables: variables)
        if socketPath == nil, handover.socket == nil, let problem = environment.runtimeFolderProblem {
            throw TokenError(.agentUnavailable, problem)
        }
        var (configuration, options) = try configure(variables)
        guard !onDemand || configuration.mayBeStartedOnDemand else {
            throw TokenError(.agentUnavailable, "start_on_demand is false in the table [agent] of the configuration")
        }
        (options.handedSocket, options.notifier) = (handover.socket, handover.notifier)
        let reader = ConfigurationReader(
            configuration, environment, named: config, allowsLoopbackHTTP: allowLoopbackHttp,
            hasMetricsSocket: metricsSocket != nil)
        options.readConfiguration = { () throws(TokenError) in try reader.read() }
        // Started before there is a token, a key or a passphrase in memory.
        options.helper = HelperProcess(
            secretTool: options.keys.secretTool, store: options.stateDirectory, askpass: options.askpass,
            executables: Set(configuration.rules.compactMap(\.executable)))
        options.keys.helper = options.helper?.keyring
        // The agent needs some descriptors itself: for its store, its listeners and its connections to token endpoints.
        options.connectionLimit = min(options.connectionLimit, max(ResourceLimits.raiseOpenFiles() - 384, 16))
        options.counter = try rollbackCounter.map { path throws(TokenError) in
            try RollbackCounter(
                opening: FileStatus.absolutePath(path), ofStoreIn: options.stateDirectory, isReset: resetRollbackCounter
            )
        }
        let folders = try AgentServer.prepareFolders(options)
        makeConfigurationFolder(environment)
        let places = ConfigurationFiles(environment, named: config).places
        let sandbox = noSandbox ? nil : sandbox(folders, places, options.network, variables)
        if let sandbox { options.sandbox = sandbox.enter() }
        return (options, sandbox)
    }

    /// Makes the folder of the user's configuration. If it did not exist when the process restricts its files, the
    /// agent could never read it. A failure is ignored.
    private func makeConfigurationFolder(_ environment: AgentEnvironment) {
        guard config == nil, !environment.namesConfigFile else { return }
        let folder = PrivateFiles.parent(of: environment.configFile)
        try? PrivateFiles(errorCode: .agentUnavailable).makeDirectory(folder, parentMode: 0o700)
    }

    /// Replaces relative paths of the options and of the environment, before this process leaves its folder.
    private mutating func makePathsAbsolute() {
        socketPath = socketPath.map(FileStatus.absolutePath)
        stateDirectory = stateDirectory.map(FileStatus.absolutePath)
        (config, metricsSocket) = (config.map(FileStatus.absolutePath), metricsSocket.map(FileStatus.absolutePath))
        rollbackCounter = rollbackCounter.map(FileStatus.absolutePath)
        for name in AgentEnvironment.pathNames {
            if let path = AgentEnvironment.value(name) { setenv(name, FileStatus.absolutePath(path), 1) }
        }
    }

    /// Goes on as a process of its own, whose messages the program that has started it reads until it listens.
    private static func detach() throws(TokenError) {
        guard FileStatus.effectiveUser != 0 else {
            throw TokenError(.agentUnavailable, "an agent of root's is not started on demand")
        }
        let code = agent_detach()
        guard code == 0 else {
            throw TokenError(.agentUnavailable, "cannot go on in the background: \(SystemError(number: code))")
        }
    }

    /// Reads the configuration, and the options that follow from it.
    private func configure(_ variables: [String: String]) throws(TokenError) -> (Configuration, AgentOptions) {
        let environment = AgentEnvironment(variables: variables)
        try environment.requireHome(hasConfiguration: config != nil, hasStore: stateDirectory != nil)
        var configuration = try Configuration(ConfigurationFiles(environment, named: config))
        configuration.yieldToOptions(
            allowsLoopbackHTTP: allowLoopbackHttp, hasMetricsSocket: metricsSocket != nil)
        // Checked before the file of certificate authorities is read again: the reading of a pipe could wait for ever.
        try configuration.requireNamedFiles()
        try configuration.requireMetricsFolder()
        return (configuration, try options(configuration, variables, environment))
    }

    /// Checks what the agent would refuse of its configuration, and the default app, which only `ssoctl` uses.
    private func checkConfiguration() throws(TokenError) {
        let (configuration, _) = try configure(ProcessInfo.processInfo.environment)
        try configuration.requireDefaultApp()
        let files = configuration.files.isEmpty ? ["there are no files"] : configuration.files
        StandardStream.output.write("the configuration is correct: \(files.joined(separator: ", "))\n")
        if let failure = StandardStream.outputFailure {
            throw TokenError(.internalError, "the output cannot be written: \(failure)")
        }
    }

    /// Serves until the agent has been stopped. Requests are answered on other threads.
    private func runUntilStopped(_ options: AgentOptions, _ sandbox: ProcessSandbox?) throws(TokenError) {
        TaskThreads.use()
        LogStream.shared.begin()
        let outcome = CallingThread.run { [passphraseDescriptor, onDemand] in
            do throws(TokenError) {
                try await Self.serve(options, passphraseDescriptor, sandbox, leavesOutput: onDemand)
                return Result<Void, TokenError>.success(())
            } catch {
                return .failure(error)
            }
        }
        LogStream.shared.flush()
        try outcome.get()
    }

    private static func serve(
        _ options: AgentOptions, _ passphraseDescriptor: Int32?, _ sandbox: ProcessSandbox?, leavesOutput: Bool
    ) async throws(TokenError) {
        var options = options
        options.keys.passphrase = try passphraseDescriptor.map(PassphraseLine.readAndClose)
        let signals = StopSignals(isInForeground: !leavesOutput)
        // An agent that no app can reach would only keep the next one from opening the store.
        options.onSocketLoss = signals.stop
        let server = try await AgentServer.start(options)
        sandbox?.closeUnixSockets()
        options.keys.passphrase = nil
        // On this thread, which the event loop does not wait for, without the start of another.
        StandardStream.error.write("listening on \(options.socketPath)\n")
        if leavesOutput {
            LogStream.shared.flush()
            _ = agent_leave_output()
        }
        releaseCode()
        for await signal in signals.arrivals {
            guard signal == SIGHUP else { break }
            server.beginReload()
        }
        await server.stop()
    }

    /// Most of the agent's resident memory is code that only the start needs, since the kernel maps 64 KiB around each page that is
    /// used.
    private static func releaseCode() {
        DispatchQueue(label: "sso-agent.code").asyncAfter(deadline: .now() + .seconds(1)) { agent_release_code() }
    }

    private func sandbox(
        _ folders: [String], _ configuration: [String], _ network: NetworkSettings, _ variables: [String: String]
    ) -> ProcessSandbox {
        // A link, on many systems, to a file that a service writes.
        let resolver = FileStatus.realPath("/etc/resolv.conf") ?? "/etc/resolv.conf"
        return ProcessSandbox(
            folders: folders,
            files: [network.caFile.map(FileStatus.absolutePath), resolver].compactMap(\.self)
                + configuration.map(FileStatus.absolutePath),
            home: AgentEnvironment(variables: variables).homeFolder ?? "/root", usesProxy: network.usesProxy,
            environment: variables)
    }

    private func options(
        _ configuration: Configuration, _ variables: [String: String], _ environment: AgentEnvironment
    ) throws(TokenError) -> AgentOptions {
        var logger = Logger(label: "sso-agent") { TerminalLogHandler(label: $0) }
        logger.logLevel = logLevel
        if configuration.caFile?.value.trimmedNonEmpty == nil, let path = variables["SSL_CERT_FILE"]?.trimmedNonEmpty {
            try Self.requireTrusted(path, "SSL_CERT_FILE")
        }
        var options = AgentOptions(
            socketPath: FileStatus.absolutePath(socketPath ?? environment.socketPath),
            stateDirectory: FileStatus.absolutePath(stateDirectory ?? environment.stateDirectory),
            keys: KeySettings(
                credentialsDirectory: variables["CREDENTIALS_DIRECTORY"], required: requiredSource,
                acceptsUnsealed: acceptUnsealedStore),
            allowsLoopbackHTTP: configuration.allowsLoopbackHTTP,
            network: try Self.network(configuration, variables),
            policy: PeerPolicy(userID: FileStatus.effectiveUser, rules: configuration.rules),
            now: { Int64(Date().timeIntervalSince1970) }, logger: logger)
        options.metricsSocketPath = metricsSocket.map(FileStatus.absolutePath) ?? configuration.metricsSocket?.value
        options.askpass = configuration.askpass?.value
        options.auditsNames = configuration.auditsNames
        options.letsAppsKeepTokens = configuration.letsAppsKeepTokens
        options.audit =
            switch configuration.audit {
            case .file:
                .file(path: "\(options.stateDirectory)/\(AuditWriter.fileName)", limit: AuditWriter.fileLimit)
            case .journal: .journal(socket: AuditWriter.journalSocket)
            case .off: nil
            }
        options.wipesReleasedMemory = wiping_heap_is_on() != 0
        return options
    }

    private static func network(
        _ configuration: Configuration, _ variables: [String: String]
    ) throws(TokenError) -> NetworkSettings {
        let proxy = configuration.proxy
        do throws(TokenError) {
            return try NetworkSettings(
                environment: variables, caFile: configuration.caFile?.value, proxy: proxy?.value)
        } catch {
            guard let proxy, error.message.hasPrefix("network.proxy ") else { throw error }
            throw TokenError(error.code, "\(proxy.place): \(error.message)")
                .suggesting(EditCommand(proxy.file, line: proxy.line).text)
        }
    }

    /// Refuses a file that another user could change or replace.
    private static func requireTrusted(_ path: String, _ setting: String) throws(TokenError) {
        do throws(TrustedFileError) {
            _ = try FileDescriptor.trusted(path)
        } catch {
            throw TokenError(
                .invalidDeveloperParameter, error.problem.after("\(setting) names \(path), which cannot be used: "))
        }
    }

    @Sendable static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else { throw ValidationError("“\(name)” is not a log level") }
        return level
    }
}
