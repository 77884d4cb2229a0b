/// Have the agent open its store: with a passphrase, or by asking the key's source once more. Answered with `KeyStatus`.
///
/// PROTOCOL.md, "unlock".
public struct Unlock: Sendable, Equatable {
    /// The passphrase; nil where the key comes from elsewhere.
    public var passphrase: Secret?

    /// An unlocking.
    public init(passphrase: Secret? = nil) {
        self.passphrase = passphrase
    }
}

extension Unlock: AgentRequest {
    package typealias Reply = KeyStatus
    package static let number: UInt32 = 33
}
