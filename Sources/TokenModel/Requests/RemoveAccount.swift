/// Sign an account out: forget an app's tokens, or everyone's. Answered with `RemoveAccount.Reply`.
///
/// PROTOCOL.md, "remove_account".
public struct RemoveAccount: Sendable, Equatable {
    /// How much to remove.
    public enum Extent: Int32, Sendable {
        /// This app's tokens; the app is then signed out of the account until its next interactive sign-in.
        case app = 1
        /// Every app's tokens for the account, and the account itself.
        case account = 2
        /// Everything in the sharing group.
        case everything = 3
    }

    /// The app.
    public var clientID: ClientID
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The account; may be empty only for `.everything`.
    public var account: AccountReference
    /// How much to remove.
    public var extent: Extent

    /// A removal of one app's tokens unless `extent` says more.
    public init(
        clientID: ClientID, sharingGroup: SharingGroup = .standard, account: AccountReference, extent: Extent = .app
    ) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.account = account
        self.extent = extent
    }

    /// What was there.
    public struct Reply: Sendable, Equatable {
        /// Whether there was anything to remove.
        public var removed: Bool

        /// A reply.
        public init(removed: Bool) {
            self.removed = removed
        }
    }
}

extension RemoveAccount: AgentRequest { package static let number: UInt32 = 18 }
