package import AccessPolicy
package import TokenModel

/// What an agent takes from a configuration that has been read again. Everything else needs a restart.
package struct ReadConfiguration: Sendable {
    /// The rules of the access policy.
    package var rules: [PolicyRule]
    /// Whether the audit log has usernames.
    package var auditsNames: Bool
    /// What differs from the configuration that was in effect.
    package var report: ReloadConfiguration.Reply

    package init(rules: [PolicyRule], auditsNames: Bool, report: ReloadConfiguration.Reply) {
        self.rules = rules
        self.auditsNames = auditsNames
        self.report = report
    }
}
