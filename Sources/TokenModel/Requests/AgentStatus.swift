/// Ask the agent how it is. Answered with `AgentStatus`. PROTOCOL.md, "status".
public struct GetStatus: Sendable, Equatable {
    /// The question.
    public init() {}
}

/// The agent, described by itself.
public struct AgentStatus: Sendable, Equatable {
    /// The agent's process id.
    public var processID: Int32
    /// The agent's version, such as `0.1.0`.
    public var version: String
    /// The protocol version it speaks.
    public var protocolVersion: UInt32
    /// The socket it listens on.
    public var socketPath: String
    /// The folder it keeps its store in.
    public var stateDirectory: String
    /// For how long it has run, in seconds.
    public var uptimeSeconds: Int64
    /// How many accounts it knows, in all sharing groups.
    public var accounts: Int64
    /// Damaged files of the store that were put aside and are still there, by name.
    public var quarantined: [String]
    /// Why the store is not open, or cannot be written; nil when it is as it should be.
    public var storeProblem: String?

    /// A status with these members.
    public init(
        processID: Int32, version: String, protocolVersion: UInt32, socketPath: String, stateDirectory: String,
        uptimeSeconds: Int64, accounts: Int64, quarantined: [String] = [], storeProblem: String? = nil
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
    }
}

extension GetStatus: AgentRequest {
    package typealias Reply = AgentStatus
    package static let number: UInt32 = 19
}
