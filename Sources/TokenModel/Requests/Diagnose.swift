/// Ask the agent to check what it stands on. Answered with `Diagnose.Reply`. PROTOCOL.md, "diagnose".
public struct Diagnose: Sendable, Equatable {
    /// The authority whose token endpoint to try; nil tries the environments of the accounts it knows, else the public cloud.
    public var authority: Authority?

    /// A check-up.
    public init(authority: Authority? = nil) {
        self.authority = authority
    }

    /// What was found.
    public struct Reply: Sendable, Equatable {
        /// In the order they were made.
        public var checks: [HealthCheck]

        /// A reply.
        public init(checks: [HealthCheck]) {
            self.checks = checks
        }
    }
}

/// One thing that was checked.
public struct HealthCheck: Sendable, Equatable {
    /// What, in one or two words.
    public var name: String
    /// Whether it is as it should be.
    public var ok: Bool
    /// What was found.
    public var detail: String
    /// What to do; nil when there is nothing to do.
    public var hint: String?

    /// A finding.
    public init(name: String, ok: Bool, detail: String, hint: String? = nil) {
        self.name = name
        self.ok = ok
        self.detail = detail
        self.hint = hint
    }
}

extension Diagnose: AgentRequest { package static let number: UInt32 = 20 }
