/// Introduces the app, and returns the requests that the agent knows. Optional: `AgentClient` sends one with each connection. The reply is
/// `Hello.Reply`.
///
/// PROTOCOL.md, "hello".
public struct Hello: Sendable, Equatable {
    /// The highest protocol version that the app supports.
    public var protocolVersion: UInt32
    /// The name of the app, for the agent's log.
    public var appName: String
    /// Whether a file descriptor of the generation page may come with the reply.
    package var acceptsPage = false

    /// Creates the request.
    public init(protocolVersion: UInt32 = 1, appName: String) {
        self.protocolVersion = protocolVersion
        self.appName = appName
    }

    /// The version and the requests of the agent.
    public struct Reply: Sendable, Equatable {
        /// The protocol version of the connection.
        public var protocolVersion: UInt32
        /// The agent's version.
        public var agentVersion: String
        /// The numbers of the requests that the agent knows.
        public var requests: [UInt32]

        /// Creates the reply.
        public init(protocolVersion: UInt32, agentVersion: String, requests: [UInt32]) {
            self.protocolVersion = protocolVersion
            self.agentVersion = agentVersion
            self.requests = requests
        }
    }
}

extension Hello: AgentRequest { package static let number: UInt32 = 10 }

/// Returns the state of the agent. The reply is `AgentStatus`. PROTOCOL.md, "get_status".
public struct GetStatus: Sendable, Equatable {
    /// Whether the reply has the agent's measurements.
    public var includesMetrics: Bool

    /// Creates the request.
    public init(includesMetrics: Bool = false) {
        self.includesMetrics = includesMetrics
    }
}

/// The state of the agent.
public struct AgentStatus: Sendable, Equatable {
    /// The process ID of the agent.
    public var processID: Int32
    /// The version of the agent, such as `0.1.0`.
    public var version: String
    /// The protocol version of the agent.
    public var protocolVersion: UInt32
    /// The path of the agent's socket.
    public var socketPath: String
    /// The directory of the agent's store.
    public var stateDirectory: String
    /// The time since the start of the agent, in seconds.
    public var uptimeSeconds: Int64
    /// The number of accounts in all sharing groups; 0 until the store is open.
    public var accounts: Int64
    /// The names of the quarantined files of the store: damaged ones that were moved aside and still exist.
    public var quarantined: [String]
    /// The reason why the store is not open or cannot be written, and the damage found since the start; nil if there is no problem.
    public var storeProblem: String?
    /// The paths of the published sockets.
    public var publishedSockets: [String]
    /// The agent's measurements, 256 at most; empty unless they were requested.
    public var metrics: [AgentMetric]
    /// The command line that helps with `storeProblem`; nil if none is known to, and from an agent of another user. A program shows it,
    /// and never runs it by itself.
    public var nextCommand: String?

    /// Creates the reply.
    public init(
        processID: Int32, version: String, protocolVersion: UInt32, socketPath: String, stateDirectory: String,
        uptimeSeconds: Int64, accounts: Int64, quarantined: [String] = [], storeProblem: String? = nil,
        publishedSockets: [String] = [], metrics: [AgentMetric] = [], nextCommand: String? = nil
    ) {
        self.processID = processID
        self.version = version
        self.protocolVersion = protocolVersion
        self.socketPath = socketPath
        self.stateDirectory = stateDirectory
        self.uptimeSeconds = uptimeSeconds
        self.accounts = accounts
        self.quarantined = quarantined
        self.storeProblem = storeProblem
        self.publishedSockets = publishedSockets
        self.metrics = metrics
        self.nextCommand = nextCommand
    }
}

extension GetStatus: AgentRequest {
    package typealias Reply = AgentStatus
    package static let number: UInt32 = 19
}

/// Checks the agent: its program, folder, store, key, memory, sandbox and published sockets, the redirect of a browser sign-in, the token
/// endpoint and the clock. The reply is `Diagnose.Reply`. PROTOCOL.md, "diagnose".
public struct Diagnose: Sendable, Equatable {
    /// The authority whose token endpoint to check; nil for the alphabetically first environment of the accounts in the cache or, without
    /// accounts, for the public cloud.
    public var authority: Authority?

    /// Creates the request.
    public init(authority: Authority? = nil) {
        self.authority = authority
    }

    /// The results of the checks.
    public struct Reply: Sendable, Equatable {
        /// The results, in the order in which they are shown.
        public var checks: [HealthCheck]

        /// Creates the reply.
        public init(checks: [HealthCheck]) {
            self.checks = checks
        }
    }
}

/// The result of a check.
public struct HealthCheck: Sendable, Equatable {
    /// The name of the check, in a few words.
    public var name: String
    /// Whether the check has passed.
    public var ok: Bool
    /// A description of what was found.
    public var detail: String
    /// The remedy; nil if there is none, or none is needed.
    public var hint: String?

    /// Creates a result.
    public init(name: String, ok: Bool, detail: String, hint: String? = nil) {
        self.name = name
        self.ok = ok
        self.detail = detail
        self.hint = hint
    }
}

extension Diagnose: AgentRequest { package static let number: UInt32 = 20 }

/// Asks the agent to read its configuration again. What can be changed while it runs is in effect when the reply arrives.
///
/// PROTOCOL.md, "reload_configuration".
public struct ReloadConfiguration: Sendable, Equatable {
    /// Creates the request.
    public init() {}

    /// What differs from the configuration that was in effect.
    public struct Reply: Sendable, Equatable {
        /// The paths of the files that were read, in this order.
        public var files: [String]
        /// The changes that are in effect, each in a few words.
        public var applied: [String]
        /// The changes that are in effect when the agent is started again.
        public var awaitingRestart: [String]

        /// Creates the reply.
        public init(files: [String], applied: [String], awaitingRestart: [String]) {
            self.files = files
            self.applied = applied
            self.awaitingRestart = awaitingRestart
        }
    }
}

extension ReloadConfiguration: AgentRequest { package static let number: UInt32 = 45 }

/// The version of this package, for `--version`, `status` and the token endpoint.
package enum ProductVersion {
    package static let text = "0.1.0"
}

/// A measurement of the agent since its start: a counter, a gauge, or a histogram of durations. `docs/metrics.md` lists them.
///
/// Names and labels are those of the metrics socket. No label names an app, an account, a process or a file.
public struct AgentMetric: Sendable, Equatable {
    /// The kind of a measurement.
    @nonexhaustive public enum Kind: Sendable, CaseIterable {
        /// A number of events, which only grows.
        case counter
        /// A number at the time of the request.
        case gauge
        /// The durations of events.
        case histogram
    }

    /// The name, such as `sso_agent_requests_total`.
    public var name: String
    /// The kind of the measurement; nil if this version does not know it.
    public var kind: Kind?
    /// The labels that distinguish measurements of one name.
    public var labels: [String: String]
    /// The number of a counter or a gauge; of a histogram, the number of events.
    public var value: Int64
    /// The durations of a histogram; nil for other kinds.
    public var durations: Durations?

    /// The durations of the events of a histogram.
    public struct Durations: Sendable, Equatable {
        /// The sum of all durations, in microseconds.
        public var sum: Int64
        /// The upper bounds of the buckets in microseconds, in ascending order.
        public var bounds: [Int64]
        /// The numbers of events in the buckets: up to the first bound, between the first and the second, and so on. The events above the
        /// last bound are in none.
        public var counts: [Int64]

        /// Creates durations.
        public init(sum: Int64, bounds: [Int64], counts: [Int64]) {
            self.sum = sum
            self.bounds = bounds
            self.counts = counts
        }
    }

    /// Creates a measurement.
    public init(
        _ name: String, _ kind: Kind?, labels: [String: String] = [:], value: Int64, durations: Durations? = nil
    ) {
        self.name = name
        self.kind = kind
        self.labels = labels
        self.value = value
        self.durations = durations
    }
}
