package import AccessPolicy
internal import Logging
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

    init(_ options: AgentOptions) {
        self.options = options
        messageLimit = MessageLimit(logger: options.logger, now: options.now)
    }

    /// Reads the configuration, and has it take effect with `apply`. The service manager is told before and afterwards, and the log says
    /// what has changed.
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
                new = try await thread.run(read)
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

    /// What has changed, as the end of a sentence. It is part of the message, since a log handler writes metadata before that.
    private static func changes(in report: ReloadConfiguration.Reply) -> String {
        let lists = [("changed", report.applied), ("needs a restart", report.awaitingRestart)]
        let texts = lists.filter { !$0.1.isEmpty }.map { name, changes in
            "\(name): \(UntrustedText.clean(changes.joined(separator: ", "), limit: 500))"
        }
        return texts.isEmpty ? ": nothing has changed" : "; " + texts.joined(separator: "; ")
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
