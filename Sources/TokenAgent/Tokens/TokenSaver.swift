internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// Saves what a token endpoint has issued: by a sign-in, a grant of an app's own, or a redemption.
///
/// Used on the actor of `CacheOwner` only.
final class TokenSaver {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let notes: RedemptionNotes
    private let tokensInUse: KeyedLock<Secret>
    private let throttle: ThrottleTable
    private let authorities: AuthorityResolver
    private let now: @Sendable () -> Int64

    init(
        memory: CacheMemory, commits: CommitQueue, notes: RedemptionNotes, tokensInUse: KeyedLock<Secret>,
        throttle: ThrottleTable, authorities: AuthorityResolver, now: @escaping @Sendable () -> Int64
    ) {
        self.memory = memory
        self.commits = commits
        self.notes = notes
        self.tokensInUse = tokensInUse
        self.throttle = throttle
        self.authorities = authorities
        self.now = now
    }

    /// Saves a response and returns what the app gets.
    ///
    /// - Parameter asked: the authority that was asked.
    /// - Throws: `declinedScopes` with the partial result if fewer scopes were granted; the tokens are kept.
    ///   `interactionRequired` if the account of a redeemed token has signed out meanwhile; nothing is saved then.
    func save(
        _ tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at asked: Authority
    ) async throws(TokenError) -> TokenResult {
        let group = parameters.sharingGroup
        let changes = { () throws(TokenError) in
            try self.memory.cache.changes(
                saving: tokens, from: issuance, parameters,
                at: self.authorities.authority(parameters, at: asked, movedTo: tokens.cloudName), now: self.now(),
                leaving: self.tokensInUse.heldKeys)
        }
        let result = try await commits.commit(changing: try changes().owner, in: group) {
            () async throws(TokenError) in
            // Checked at the account's turn: whoever signed out meanwhile must not find the account there again.
            if let used = issuance.redeemedToken, !memory.cache.stillHolds(used, in: group) {
                throw Self.signedOutMeanwhile
            }
            let saved = try changes()
            let settled = issuance.redeemedToken.flatMap { notes.settled(by: $0, in: group) }
            return (CommitQueue.Commit(changes: saved.changes, settled: settled), saved.result)
        }
        if case .signIn = issuance { throttle.noteSignIn() }
        let declined = parameters.scopes.subtracting(ScopeSet(result.scopes).union(Self.neverDeclined))
        guard parameters.version == .v1 || declined.isEmpty else { throw TokenError.declining(declined, result) }
        return result
    }

    static let signedOutMeanwhile = TokenError(
        .interactionRequired, "the account signed out while its token was being renewed; sign in again")

    /// Scopes that an issuer need not mention among the granted ones.
    private static let neverDeclined = ScopeSet.reserved.union(ScopeSet(["email"]))
}

extension Issuance {
    /// The refresh token that was redeemed; nil for a sign-in.
    fileprivate var redeemedToken: RefreshTokenRecord? {
        if case .redemption(let token) = self { token } else { nil }
    }
}
