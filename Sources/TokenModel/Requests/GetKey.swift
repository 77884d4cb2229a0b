/// Ask where the key of the store comes from. Answered with `KeyStatus`. PROTOCOL.md, "get_key".
public struct GetKey: Sendable, Equatable {
    /// The question.
    public init() {}
}

/// The key of the store, as far as it may be told.
public struct KeyStatus: Sendable, Equatable {
    /// Where it comes from; nil while the agent does not know yet.
    public var source: KeySource?
    /// The same for people: a path, for one.
    public var place: String
    /// Whether the agent has it, so that the store is open.
    public var isOpen: Bool
    /// Why it is not, and what to do; nil when it is.
    public var problem: String?

    /// A status with these members.
    public init(source: KeySource?, place: String, isOpen: Bool, problem: String? = nil) {
        self.source = source
        self.place = place
        self.isOpen = isOpen
        self.problem = problem
    }
}

extension GetKey: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 31
}
