internal import AccessPolicy
internal import AgentConfiguration
internal import AgentSocket
internal import Synchronization
internal import TokenAgent
internal import TokenModel

/// Reads the configuration of a running agent again, and finds out what has changed.
final class ConfigurationReader: Sendable {
    private let environment: AgentEnvironment
    /// The user's file if the command line names one.
    private let named: String?
    /// Whether the command line allows `http` for authorities on this machine.
    private let allowsLoopbackHTTP: Bool
    /// Whether the command line names the socket for measurements, in place of the configuration.
    private let hasMetricsSocket: Bool
    /// The path of the agent's socket.
    private let socketPath: String
    /// The programs in the rules at the start, which the agent's helper knows.
    private let programs: Set<ExactText>
    /// The configuration in effect, options of the command line included.
    private let running: Mutex<Configuration>

    init(
        _ configuration: Configuration, _ environment: AgentEnvironment, named: String?, allowsLoopbackHTTP: Bool,
        hasMetricsSocket: Bool, socketPath: String
    ) {
        self.environment = environment
        self.named = named
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
        self.hasMetricsSocket = hasMetricsSocket
        self.socketPath = socketPath
        programs = Set(configuration.rules.compactMap(\.executable))
        running = Mutex(configuration)
    }

    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy; nothing has changed then.
    func read() throws(TokenError) -> ReadConfiguration {
        let (programs, new) = (programs, try readFiles())
        return running.withLock { running in
            let changes = ConfigurationChanges(from: running, to: new, programs: programs)
            running = changes.configuration
            return ReadConfiguration(
                rules: running.rules, auditsNames: running.auditsNames, allowsLoopbackHTTP: running.allowsLoopbackHTTP,
                report: ReloadConfiguration.Reply(
                    files: new.files, applied: changes.applied, awaitingRestart: changes.awaitingRestart))
        }
    }

    private func readFiles() throws(TokenError) -> Configuration {
        var places = ConfigurationFiles(environment, named: named)
        places.isReadAgain = true
        var new = try Configuration(places)
        new.yieldToOptions(allowsLoopbackHTTP: allowsLoopbackHTTP, hasMetricsSocket: hasMetricsSocket)
        // An agent that is started with it checks the same, and would not start. The sandbox may hide files that such an agent can open.
        try new.requireNamedFiles(isRestricted: true)
        try new.requireMetricsSocket(besides: socketPath)
        return new
    }
}
