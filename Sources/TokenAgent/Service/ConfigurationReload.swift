package import AccessPolicy
internal import Logging
internal import Synchronization
package import TokenModel

/// Reads the configuration of a running agent again: one reading at a time, so that what was read later is in effect.
///
/// Used on the actor of `CacheOwner` only. Files are read off the event loop.
final class ConfigurationReload {
    /// The operations of which only one may run at a time.
    private enum Reading { case configuration }

    private let options: AgentOptions
    private lazy var readings = KeyedLock<Reading>()
    /// Limits the messages about readings, for which any app may ask.
    private let messageLimit: MessageLimit
    private let thread = WorkThread("configuration")
    /// The reading in progress; nil if there is none.
    private var pending: PendingReading?
    private var isCancelled = false

    init(_ options: AgentOptions) {
        self.options = options
        messageLimit = MessageLimit(logger: options.logger, now: options.now)
    }

    /// Reads the configuration, and calls `apply` to put it into effect. The service manager is notified before and afterwards, and the log
    /// lists what has changed.
    ///
    /// - Throws: the error of the reading, with the file, the line and the remedy; nothing has changed then.
    func run(_ apply: (ReadConfiguration) -> Void) async throws(TokenError) -> ReloadConfiguration.Reply {
        guard let read = options.readConfiguration else {
            throw TokenError(.unsupportedFunctionality, "this agent was started without a configuration")
        }
        return try await readings.exclusive(.configuration) { () async throws(TokenError) in
            options.notifier?.send(.reloading)
            defer { options.notifier?.send(.ready(socketPath: options.socketPath)) }
            let new: ReadConfiguration
            do throws(TokenError) {
                new = try await self.read(read)
            } catch {
                if messageLimit.admitsMessage() {
                    let reason = UntrustedText.clean(error.message, limit: 500)
                    options.logger.error("the configuration was not changed: \(reason)")
                }
                throw error
            }
            apply(new)
            if messageLimit.admitsMessage() {
                options.logger.notice("the configuration was read again\(Self.changes(in: new.report))")
            }
            return new.report
        }
    }

    /// Ends the reading in progress with an error, and refuses later ones, since the agent stops: a file system that does not answer must not
    /// delay that.
    func cancel() {
        isCancelled = true
        pending?.end(.failure(.agentIsStopping))
    }

    /// Returns what `read` returns on the thread.
    private func read(
        _ read: @escaping @Sendable () throws(TokenError) -> ReadConfiguration
    ) async throws(TokenError) -> ReadConfiguration {
        guard !isCancelled else { throw .agentIsStopping }
        defer { pending = nil }
        return try await withCheckedContinuation { (done: PendingReading.Continuation) in
            let reading = PendingReading(done)
            pending = reading
            thread.start(read) { reading.end($0) }
        }.get()
    }

    /// The changes as the end of a sentence. They are part of the message, since a log handler writes metadata before the message.
    private static func changes(in report: ReloadConfiguration.Reply) -> String {
        let lists = [("changed", report.applied), ("needs a restart", report.awaitingRestart)]
        let texts = lists.filter { !$0.1.isEmpty }.map { name, changes in
            "\(name): \(UntrustedText.clean(changes.joined(separator: ", "), limit: 500))"
        }
        return texts.isEmpty ? ": nothing has changed" : "; " + texts.joined(separator: "; ")
    }
}

/// A reading in progress, which ends once: with its result or, if that comes first, with the error of an agent that stops.
private final class PendingReading: Sendable {
    typealias Continuation = CheckedContinuation<Result<ReadConfiguration, TokenError>, Never>

    private let waiting: Mutex<Continuation?>

    init(_ done: Continuation) { waiting = Mutex(done) }

    func end(_ result: Result<ReadConfiguration, TokenError>) {
        let done = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        done?.resume(returning: result)
    }
}

/// The values that a running agent can change when its configuration is read again. All others need a restart.
package struct ReadConfiguration: Sendable {
    /// The rules of the access policy.
    package var rules: [PolicyRule]
    /// Whether the audit log has usernames.
    package var auditsNames: Bool
    /// Whether authorities on this machine may use `http`.
    package var allowsLoopbackHTTP: Bool
    /// What differs from the configuration that was in effect.
    package var report: ReloadConfiguration.Reply

    package init(rules: [PolicyRule], auditsNames: Bool, allowsLoopbackHTTP: Bool, report: ReloadConfiguration.Reply) {
        self.rules = rules
        self.auditsNames = auditsNames
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
        self.report = report
    }
}
