internal import AccessPolicy
package import TokenModel

/// The differences between the configuration that an agent runs with and one that was read later.
package struct ConfigurationChanges: Sendable, Equatable {
    /// The changes that a running agent can make, each in a few words.
    package private(set) var applied: [String] = []
    /// The changes that it cannot make: they decide what the process may do after its start.
    package private(set) var awaitingRestart: [String] = []
    /// The configuration that is in effect after the changes: what was read, and of what needs a restart the old values.
    package let configuration: Configuration

    /// - Parameters:
    ///   - programs: the programs that rules may name. The agent can recognise no others without a restart.
    package init(from running: Configuration, to read: Configuration, programs: Set<ExactText>) {
        var canChangeRules = true
        if running.rules != read.rules {
            let unknown = Set(read.rules.compactMap(\.executable)).subtracting(programs).map(\.text).sorted()
            if let program = unknown.first {
                canChangeRules = false
                awaitingRestart.append("rules: \(program) was in no rule when the agent was started")
            } else if running.rules.count == read.rules.count {
                applied.append("rules: \(read.rules.count), some of which differ")
            } else {
                applied.append("rules: \(read.rules.count) instead of \(running.rules.count)")
            }
        }
        if running.auditsNames != read.auditsNames { applied.append("audit.names = \(read.auditsNames)") }
        if running.mayBeStartedOnDemand != read.mayBeStartedOnDemand {
            applied.append("agent.start_on_demand = \(read.mayBeStartedOnDemand)")
        }
        if running.apps != read.apps { applied.append("apps") }
        if running.defaultApp?.value != read.defaultApp?.value { applied.append("defaults.app") }
        if running.defaultAccount?.value != read.defaultAccount?.value { applied.append("defaults.account") }
        // Without the values: a proxy's URL may have a password.
        if running.caFile?.value != read.caFile?.value { awaitingRestart.append("network.ca_file") }
        if running.proxy?.value != read.proxy?.value { awaitingRestart.append("network.proxy") }
        if running.allowsLoopbackHTTP != read.allowsLoopbackHTTP {
            applied.append("network.allow_loopback_http = \(read.allowsLoopbackHTTP)")
        }
        if running.askpass?.value != read.askpass?.value { awaitingRestart.append("confirmation.askpass") }
        if running.audit != read.audit { awaitingRestart.append("audit.destination = \"\(read.audit.rawValue)\"") }
        if running.metricsSocket?.value != read.metricsSocket?.value {
            awaitingRestart.append("metrics.socket\(read.metricsSocket.map { " = \"\($0.value)\"" } ?? "")")
        }
        if running.letsAppsKeepTokens != read.letsAppsKeepTokens {
            awaitingRestart.append("tokens.kept_by_apps = \(read.letsAppsKeepTokens)")
        }
        configuration = running.updated(from: read, withRules: canChangeRules)
    }
}
