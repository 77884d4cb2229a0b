internal import AgentSocket
internal import ArgumentParser
internal import CAgentSystem
internal import Logging
internal import PosixFiles
internal import TokenModel

/// The agent's command line, and its help. What the program does is in `AgentProgram`.
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

    @Option(
        name: .customLong("socket"), help: "The socket to listen on, instead of $SSO_AGENT_SOCK.", completion: .file())
    var socketPath: String?

    @Option(
        name: .customLong("state-dir"), help: "The store's folder, instead of $SSO_AGENT_STATE_DIR.",
        completion: .directory)
    var stateDirectory: String?

    @Option(help: "A socket for the agent's measurements, in Prometheus' format: GET /metrics.", completion: .file())
    var metricsSocket: String?

    @Option(help: "The user's configuration file (TOML), instead of $SSO_AGENT_CONFIG.", completion: .file())
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

    @Flag(help: "Do not restrict the process: if it does not find a file or a program of this system otherwise.")
    var noSandbox = false

    @Option(
        help: "trace, debug, info, notice, warning, error or critical. By default notice.",
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: Self.level)
    var logLevel: Logger.Level = AgentArguments.defaultLogLevel

    static func main() {
        agent_hold_standard_streams()
        agent_reset_signals()
        do {
            if let problem = ProgramArguments.problem ?? AgentEnvironment.problem { throw ValidationError(problem) }
            let arguments = try AgentArguments(plain: CommandLine.arguments.dropFirst()) ?? parse().arguments
            try AgentProgram.run(arguments)
        } catch let error as TokenError {
            LogStream.shared.write(error.problem.printed(by: "sso-agent") + "\n")
            LogStream.shared.flush()
            exit(withError: ExitCode.failure)
        } catch {
            // The text of an error of the command line has parts of the arguments.
            StandardStream.widenHelp()
            let (status, text) = (exitCode(for: error), fullMessage(for: error))
            if !text.isEmpty { (status.isSuccess ? StandardStream.output : .error).write(text + "\n") }
            if let problem = StandardStream.outputProblem {
                StandardStream.error.write("sso-agent: \(problem)\n")
                exit(withError: ExitCode.failure)
            }
            exit(withError: status)
        }
    }

    func validate() throws {
        if let problem = arguments.problem { throw ValidationError(problem) }
    }

    private var arguments: AgentArguments {
        AgentArguments(
            socketPath: socketPath, stateDirectory: stateDirectory, metricsSocket: metricsSocket, config: config,
            checkConfig: checkConfig, onDemand: onDemand, allowLoopbackHttp: allowLoopbackHttp,
            passphraseDescriptor: passphraseDescriptor, requiredSource: requiredSource,
            acceptUnsealedStore: acceptUnsealedStore, rollbackCounter: rollbackCounter,
            resetRollbackCounter: resetRollbackCounter, allowDebugging: allowDebugging, noSandbox: noSandbox,
            logLevel: logLevel)
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else { throw ValidationError("“\(name)” is not a log level") }
        return level
    }
}
