internal import TokenCache
internal import TokenModel
internal import TokenStore

/// The room that a store which has grown large has for a response, so that one app cannot fill it for all others. Records that the store has
/// are renewed in any case.
///
/// A store has room for some hundred thousand accounts. An app that a sandbox holds to its own client IDs, and that has a provider of its
/// own, could sign in so many accounts with so long tokens that no store would be left for anybody.
enum StoreRoom: Equatable {
    case ample
    /// Apps with many accounts add none, and long tokens are not kept.
    case scarce
    /// Nothing is added but refresh tokens of accounts that are there.
    case exhausted
    /// As `exhausted`, since many changes could not be written: what is added may stay in memory.
    case unwritable

    /// - Parameters:
    ///   - storeSize: in bytes.
    ///   - unsavedSize: that of the changes that could not be written.
    init(storeSize: Int, unsavedSize: Int) {
        guard unsavedSize < Self.unsavedSize else {
            self = .unwritable
            return
        }
        self = storeSize < Self.scarceSize ? .ample : storeSize < Self.fullSize ? .scarce : .exhausted
    }

    /// The changes of a response that are saved.
    ///
    /// - Throws: `storeUnavailable` (-53008) if a sign-in brings another account, for which there is no room.
    func admitted(
        _ changes: [CacheChange], of account: AccountKey, from issuance: Issuance, _ parameters: TokenParameters,
        in cache: CredentialCache
    ) throws(TokenError) -> [CacheChange] {
        guard self != .ample else { return changes }
        let partition = cache.partition(parameters.sharingGroup)
        let known = partition[account]
        // What takes the place of another record is no addition: one under another name of the cloud, or of an account that is moved.
        let replaced = Set(changes.compactMap { if case .remove(let key, _) = $0 { key.kind } else { nil } })
        if case .signIn = issuance, !partition.contains(account), !replaced.contains(.account),
            self != .scarce || cache.accountCount(ofApp: parameters.clientID) >= Self.accountsOfAnApp
        {
            guard self != .unwritable else { throw Self.noRoomInMemory }
            throw TokenError(
                .storeUnavailable,
                "the store has no room for another account of this app; sign out of accounts that are not needed",
                .run("ssoctl accounts"))
        }
        let isCrowded =
            known.accessTokens.values.count { $0.clientID == parameters.clientID } >= Self.tokensOfAnAccount
        // One for each tenant, of which an app with a provider of its own may name any.
        let hasManyIDTokens =
            known.idTokens.values.count { $0.clientID == parameters.clientID } >= Self.tokensOfAnAccount
        return changes.filter { change in
            switch change {
            case .save(.accessToken(let token)):
                known.accessTokens[token.key] != nil
                    || token.secret.count <= Self.longToken
                        && (replaced.contains(.accessToken) || self == .scarce && !isCrowded)
            case .save(.account(let record)):
                known.accounts[record.key] != nil || replaced.contains(.account)
                    || self == .scarce && known.accounts.count < Self.tokensOfAnAccount
            case .save(.idToken(let token)):
                known.idTokens[token.key] != nil || replaced.contains(.idToken) || self == .scarce && !hasManyIDTokens
            default: true
            }
        }
    }

    private static let noRoomInMemory = TokenError(
        .storeUnavailable,
        "earlier changes cannot be written to disk, and memory has no room for another account; free some space")

    /// The size from which on what could not be written is enough, several times what a thousand ordinary accounts have.
    static let unsavedSize = 16 << 20
    /// Half of what a store may have, and three quarters of it.
    private static let scarceSize = StoreLimits.size / 2
    private static let fullSize = StoreLimits.size / 4 * 3
    /// The number of accounts that an app may have in a large store and still add others. Those of all sharing groups count: an app may
    /// name any group.
    static let accountsOfAnApp = 256
    /// The number of access tokens, and of ID tokens, that an app may have of an account in a large store and still add others; also that of
    /// the account's tenants.
    static let tokensOfAnAccount = 16
    /// The length of access tokens that are kept in a large store, in bytes; twice that of the longest ones of Entra.
    private static let longToken = 16 << 10
}
