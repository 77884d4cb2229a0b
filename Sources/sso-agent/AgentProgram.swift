internal import AccessPolicy
internal import AgentConfiguration
internal import AgentSandbox
internal import AgentSocket
internal import CAgentSystem
internal import Dispatch
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

/// The agent's program: configuration, the process's restrictions, and signals. The agent itself is in `TokenAgent`.
struct AgentProgram {
    let arguments: AgentArguments

    private init(_ arguments: AgentArguments) { self.arguments = arguments }

    /// Checks the configuration if the arguments say so, and else serves until the agent has been stopped.
    static func run(_ arguments: AgentArguments) throws(TokenError) {
        var arguments = arguments
        if arguments.checkConfig { return try AgentProgram(arguments).checkConfiguration() }
        if arguments.onDemand {
            arguments.makePathsAbsolute()
            try detach()
        }
        let program = AgentProgram(arguments)
        let (options, sandbox) = try program.prepare()
        try program.runUntilStopped(options, sandbox)
    }

    /// Does what is possible only with one thread, or before the process is restricted: disables debuggers, reads the configuration,
    /// starts the helper, makes the folders, and restricts the process.
    private func prepare() throws(TokenError) -> (AgentOptions, ProcessSandbox?) {
        // A socket gets its mode when it is bound, and the restricted process may change none by a path.
        umask(umask(0o077) & 0o077)
        if !arguments.allowDebugging, !ResourceLimits.forbidInspection() {
            StandardStream.error.write("sso-agent: debuggers and core dumps cannot be disabled on this system\n")
        }
        // First of all, since the helper gets this environment.
        let handover = try ServiceHandover.receive()
        let variables = ProcessInfo.processInfo.environment
        let environment = AgentEnvironment(variables: variables)
        if arguments.socketPath == nil, handover.socket == nil, let problem = environment.runtimeFolderProblem {
            throw TokenError(.agentUnavailable, problem)
        }
        var (configuration, options) = try configure(variables)
        guard !arguments.onDemand || configuration.mayBeStartedOnDemand else {
            throw TokenError(
                .agentUnavailable, "start_on_demand is false in the table [agent] of the configuration",
                .start("sso-agent &"))
        }
        (options.handedSocket, options.notifier) = (handover.socket, handover.notifier)
        let reader = ConfigurationReader(
            configuration, environment, named: arguments.config, allowsLoopbackHTTP: arguments.allowLoopbackHttp,
            hasMetricsSocket: arguments.metricsSocket != nil, socketPath: options.socketPath)
        options.readConfiguration = { () throws(TokenError) in try reader.read() }
        ResourceLimits.raiseFileSizeAndProcessorTime()
        try ResourceLimits.requireAddressSpace()
        // The agent needs some descriptors itself: for its store, its listeners and its connections to token endpoints. The helper, which
        // inherits the limit, needs a few as well.
        options.connectionLimit = min(options.connectionLimit, max(try ResourceLimits.requireOpenFiles() - 384, 16))
        try ResourceLimits.requireProcessDescriptors()
        try ResourceLimits.requireThreads()
        try SQLiteVersion.requireSupported()
        // Started before there is a token, a key or a passphrase in memory.
        options.helper = HelperProcess(
            secretTool: options.keys.secretTool, store: options.stateDirectory, askpass: options.askpass,
            executables: Set(configuration.rules.compactMap(\.executable)),
            runtimeDirectory: environment.assumedRuntimeDirectory)
        options.keys.helper = options.helper?.keyring
        options.counter = try arguments.rollbackCounter.map { path throws(TokenError) in
            try RollbackCounter(
                opening: FileStatus.absolutePath(path), ofStoreIn: options.stateDirectory,
                isReset: arguments.resetRollbackCounter
            )
        }
        let folders = try AgentServer.prepareFolders(options)
        makeConfigurationFolder(environment)
        let places = ConfigurationFiles(environment, named: arguments.config).places
        let files = places + configuration.files
        let sandbox = arguments.noSandbox ? nil : sandbox(folders, files, options.network, variables)
        if let sandbox { options.sandbox = sandbox.enter() }
        return (options, sandbox)
    }

    /// Makes the folder of the user's configuration. If it did not exist when the process restricts its files, the
    /// agent could never read it. A failure is ignored.
    private func makeConfigurationFolder(_ environment: AgentEnvironment) {
        guard arguments.config == nil, !environment.namesConfigFile else { return }
        let folder = PrivateFiles.parent(of: environment.configFile)
        try? PrivateFiles(errorCode: .agentUnavailable).makeDirectory(folder, parentMode: 0o700)
    }

    /// Continues as a process of its own. The program that has started it reads its messages until it listens.
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
        try environment.requireHome(
            hasConfiguration: arguments.config != nil, hasStore: arguments.stateDirectory != nil)
        var configuration = try Configuration(ConfigurationFiles(environment, named: arguments.config))
        configuration.yieldToOptions(
            allowsLoopbackHTTP: arguments.allowLoopbackHttp, hasMetricsSocket: arguments.metricsSocket != nil)
        // Checked before the file of certificate authorities is read again: the reading of a pipe could wait for ever.
        try configuration.requireNamedFiles()
        let options = try self.options(configuration, variables, environment)
        try configuration.requireMetricsSocket(besides: options.socketPath)
        return (configuration, options)
    }

    /// Checks what the agent would refuse of its configuration, and the default app, which only `ssoctl` uses.
    private func checkConfiguration() throws(TokenError) {
        let (configuration, _) = try configure(ProcessInfo.processInfo.environment)
        try configuration.requireDefaultApp()
        let files = configuration.files.isEmpty ? ["there are no files"] : configuration.files
        StandardStream.output.write("the configuration is correct: \(files.joined(separator: ", "))\n")
        if let problem = StandardStream.outputProblem { throw TokenError(.internalError, problem) }
    }

    /// Serves until the agent has been stopped. Requests are answered on other threads.
    private func runUntilStopped(_ options: AgentOptions, _ sandbox: ProcessSandbox?) throws(TokenError) {
        TaskThreads.use()
        LogStream.shared.begin()
        let outcome = CallingThread.run { [arguments] in
            do throws(TokenError) {
                try await Self.serve(options, arguments, sandbox)
                return Result<Void, TokenError>.success(())
            } catch {
                return .failure(error)
            }
        }
        LogStream.shared.flush()
        try outcome.get()
    }

    private static func serve(
        _ options: AgentOptions, _ arguments: AgentArguments, _ sandbox: ProcessSandbox?
    ) async throws(TokenError) {
        var options = options
        options.keys.passphrase = try arguments.passphraseDescriptor.map(PassphraseLine.readAndClose)
        let signals = StopSignals(isInForeground: !arguments.onDemand)
        let lock = try await LockFile.acquire(for: options)
        signals.begin()
        // An agent that no app can reach would only keep the next one from opening the store.
        options.onSocketLoss = signals.stop
        let server = try await AgentServer.start(options, holding: lock)
        sandbox?.closeUnixSockets()
        options.keys.passphrase = nil
        // Not on this thread, which a reader that does not read would keep from stopping the agent.
        LogStream.shared.write("listening on \(options.socketPath)\n")
        if arguments.onDemand {
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
}
