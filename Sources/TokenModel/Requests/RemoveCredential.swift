/// Remove one credential; nothing else changes. Answered with `RemoveCredential.Reply`.
///
/// PROTOCOL.md, "remove_credential".
public struct RemoveCredential: Sendable, Equatable {
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The credential's `id`.
    public var id: String

    /// A removal of the credential `id`.
    public init(sharingGroup: SharingGroup = .standard, id: String) {
        self.sharingGroup = sharingGroup
        self.id = id
    }

    /// What was there.
    public struct Reply: Sendable, Equatable {
        /// Whether there was such a credential.
        public var removed: Bool

        /// A reply.
        public init(removed: Bool) {
            self.removed = removed
        }
    }
}

extension RemoveCredential: AgentRequest { package static let number: UInt32 = 22 }
