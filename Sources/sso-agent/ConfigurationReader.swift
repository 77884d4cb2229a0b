internal import AccessPolicy
internal import AgentConfiguration
internal import AgentSocket
internal import PosixFiles
internal import Synchronization
internal import TokenAgent
internal import TokenModel

/// Reads the configuration of a running agent again, and finds out what has changed.
final class ConfigurationReader: Sendable {
    private let environment: AgentEnvironment
    /// The user's file if the command line names one.
    private let named: String?
    /// The programs in the rules at the start, which the agent's helper knows.
    private let programs: Set<String>
    /// The configuration in effect.
    private let running: Mutex<Configuration>

    init(_ configuration: Configuration, _ environment: AgentEnvironment, named: String?) {
        self.environment = environment
        self.named = named
        programs = Set(configuration.rules.compactMap(\.executable))
        running = Mutex(configuration)
    }

    /// - Throws: `invalidDeveloperParameter` (-51112) with the file, the line and the remedy; nothing has changed then.
    func read() throws(TokenError) -> ReadConfiguration {
        let places = ConfigurationFiles(environment, named: named)
        for path in try places.files() { try requireReadable(path) }
        let new = try Configuration(places)
        let programs = programs
        return running.withLock { running in
            let changes = ConfigurationChanges(from: running, to: new, programs: programs)
            running = changes.applied(to: running, from: new)
            return ReadConfiguration(
                rules: running.rules, auditsNames: running.auditsNames,
                report: ReloadConfiguration.Reply(
                    files: new.files, applied: changes.applied, awaitingRestart: changes.awaitingRestart))
        }
    }

    /// The process may read the folders that existed at its start.
    private func requireReadable(_ path: String) throws(TokenError) {
        do throws(SystemError) {
            _ = try FileDescriptor(readingRegular: path)
        } catch {
            guard error.isPermissionDenied else { return }
            throw TokenError(
                .invalidDeveloperParameter,
                "the configuration \(path) cannot be read by the running agent: it was made, or its folder was, after the "
                    + "start; restart the agent")
        }
    }
}
