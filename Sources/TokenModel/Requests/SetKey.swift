/// Have the store's key come from another source from now on. Answered with `KeyStatus`. PROTOCOL.md, "set_key".
public struct SetKey: Sendable, Equatable {
    /// The new source.
    public var source: KeySource
    /// The passphrase, for that source; nil for the others.
    public var passphrase: Secret?

    /// A change of the source.
    public init(source: KeySource, passphrase: Secret? = nil) {
        self.source = source
        self.passphrase = passphrase
    }
}

extension SetKey: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 32
}
