package import AccessPolicy
package import TokenModel

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
