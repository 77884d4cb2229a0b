/// Ask for the one account that is signed in to an app, and for the one it was the last time the app asked.
/// Answered with `GetCurrentAccount.Reply`; the agent remembers the answer for the next time.
///
/// Fails with `ambiguousAccount` (-51200) when several accounts are signed in. PROTOCOL.md, "get_current_account".
public struct GetCurrentAccount: Sendable, Equatable {
    /// The app.
    public var clientID: ClientID
    /// The partition of the cache.
    public var sharingGroup: SharingGroup

    /// A question of the app `clientID`.
    public init(clientID: ClientID, sharingGroup: SharingGroup = .standard) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
    }

    /// Who it is, and who it was.
    public struct Reply: Sendable, Equatable {
        /// The account that is signed in now; nil when there is none.
        public var account: Account?
        /// The account that the last question was answered with, without its tenant profiles; nil when there was none.
        public var previous: Account?

        /// A reply.
        public init(account: Account? = nil, previous: Account? = nil) {
            self.account = account
            self.previous = previous
        }
    }
}

extension GetCurrentAccount: AgentRequest {
    package static let number: UInt32 = 24

    /// The second answer would give the first as the previous one.
    package var isRepeatable: Bool { false }
}
