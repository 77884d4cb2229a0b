/// Introduce the app and learn what the agent can do. Optional, and once a connection at most. Answered with `Hello.Reply`.
///
/// PROTOCOL.md, "hello".
public struct Hello: Sendable, Equatable {
    /// The highest protocol version the app speaks.
    public var protocolVersion: UInt32
    /// The app's name for the agent's log; free text.
    public var appName: String

    /// A greeting.
    public init(protocolVersion: UInt32 = 1, appName: String) {
        self.protocolVersion = protocolVersion
        self.appName = appName
    }

    /// What the agent can do.
    public struct Reply: Sendable, Equatable {
        /// The version both will speak.
        public var protocolVersion: UInt32
        /// The agent's version.
        public var agentVersion: String
        /// The numbers of the requests it knows.
        public var requests: [UInt32]

        /// A reply.
        public init(protocolVersion: UInt32, agentVersion: String, requests: [UInt32]) {
            self.protocolVersion = protocolVersion
            self.agentVersion = agentVersion
            self.requests = requests
        }
    }
}

extension Hello: AgentRequest { package static let number: UInt32 = 10 }
