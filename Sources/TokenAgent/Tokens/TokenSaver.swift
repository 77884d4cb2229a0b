internal import TokenCache
internal import TokenModel

/// Saves the tokens that a token endpoint has issued for a sign-in, a redemption, or a grant that an app has.
///
/// Used on the actor of `CacheOwner` only.
final class TokenSaver {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let reader: TokenReader
    private let notes: RedemptionNotes
    private let tokensInUse: KeyedLock<Secret>
    private let throttle: ThrottleTable
    private let authorities: AuthorityResolver
    private let now: @Sendable () -> Int64

    init(
        memory: CacheMemory, commits: CommitQueue, reader: TokenReader, notes: RedemptionNotes,
        tokensInUse: KeyedLock<Secret>, throttle: ThrottleTable, authorities: AuthorityResolver,
        now: @escaping @Sendable () -> Int64
    ) {
        self.memory = memory
        self.commits = commits
        self.reader = reader
        self.notes = notes
        self.tokensInUse = tokensInUse
        self.throttle = throttle
        self.authorities = authorities
        self.now = now
    }

    /// Saves a response and returns the result for the app.
    ///
    /// - Parameter requested: the authority the request was sent to.
    /// - Throws: `declinedScopes` with the partial result if fewer scopes were granted; the tokens are saved nevertheless.
    ///   `interactionRequired` if the redeemed refresh token has been removed meanwhile, or if the app has signed out while its family's was
    ///   redeemed: nothing is saved then, except for the refresh token that replaces those of the other apps of the family.
    func save(
        _ tokens: IssuedTokens, from issuance: Issuance, _ parameters: TokenParameters, at requested: Authority
    ) async throws(TokenError) -> TokenResult {
        let group = parameters.sharingGroup
        let authority = authorities.authority(parameters, at: requested, movedTo: tokens.cloudName)
        let account = memory.cache.account(of: tokens, from: issuance, parameters, at: authority)
        // The accounts whose records move to this one. Other changes of them wait: the move would remove the tokens that these bring.
        let adopted =
            issuance.redeemedToken.map { [$0.account] }
            ?? memory.cache.namesakes(of: account, tokens, at: authority, in: group)
        let changed = Set([account] + adopted)
        var isSaved = false
        // Also if the commit fails: the tokens are in memory, and a later commit saves them.
        defer {
            reader.noteUse(of: [account], in: group)
            if isSaved { memory.events.interactionHasEnded(changed, of: parameters.clientID, in: group) }
        }
        let (result, hasChanges) = try await commits.commit(changing: changed, in: group) {
            () async throws(TokenError) -> (CommitQueue.CacheCommit, (TokenResult?, Bool)) in
            // What is saved depends on what the account has. If that cannot be read, the response is saved nevertheless.
            let others =
                issuance.redeemedToken.map { memory.cache.accounts(withTokensOf: $0.account, in: group) } ?? adopted
            try? await reader.read([account] + others.filter { $0 != account }, in: group)
            // Checked when it is this change's turn: an account that was removed meanwhile must not be saved again.
            if let used = issuance.redeemedToken, !memory.cache.stillHolds(used, in: group) {
                // The other apps of its family may have copies of the token.
                let copies = memory.cache.changes(
                    renewing: used, with: tokens, for: parameters.clientID, at: now(), in: group)
                return (CommitQueue.CacheCommit(changes: copies), (nil, !copies.isEmpty))
            }
            let saved: SavedTokens
            do throws(TokenError) {
                saved = try memory.cache.changes(
                    saving: tokens, from: issuance, parameters, at: authority, now: now(),
                    leaving: tokensInUse.heldKeys, adopting: changed)
            } catch {
                throw error.answering(parameters.correlationID)
            }
            let isSignedOut = hasSignedOut(of: account, during: issuance, parameters)
            let room = StoreRoom(storeSize: commits.storeSize, unsavedSize: commits.unsavedSize)
            let changes = try room.admitted(
                isSignedOut ? saved.changes.filter { $0.isForOthers(than: parameters, tokens) } : saved.changes,
                of: account, from: issuance, parameters, in: memory.cache)
            let settled = issuance.redeemedToken.flatMap { notes.settled(by: $0, in: group) }
            let commit = CommitQueue.CacheCommit(changes: changes, settled: settled)
            isSaved = !isSignedOut
            return (commit, (isSignedOut ? nil : saved.result, !changes.isEmpty))
        }
        guard let result else { throw Self.signedOutMeanwhile.changingCache(hasChanges) }
        if case .signIn = issuance { throttle.removeRefusals() }
        let declined = parameters.scopes.subtracting(ScopeSet(result.scopes).union(.ofNoResource))
        guard parameters.version == .v1 || declined.isEmpty else { throw TokenError.declining(declined, result) }
        return result
    }

    /// Whether the app has signed out of the account since it asked for the redemption. A response to a sign-in ends an earlier sign-out.
    private func hasSignedOut(
        of account: AccountKey, during issuance: Issuance, _ parameters: TokenParameters
    ) -> Bool {
        guard let used = issuance.redeemedToken?.account else { return false }
        // An account that was known by its username may have got its identifier meanwhile.
        let isHere = memory.cache.partition(parameters.sharingGroup).contains(used)
        return memory.cache.isSignedOut(isHere ? used : account, of: parameters)
    }

    static let signedOutMeanwhile = TokenError(
        .interactionRequired, "the account signed out while its token was being renewed; sign in again")
}

extension CacheChange {
    /// Whether the change saves the refresh token of a family of apps, or a copy of it that another app has.
    fileprivate func isForOthers(than parameters: TokenParameters, _ tokens: IssuedTokens) -> Bool {
        guard case .save(.refreshToken(let token)) = self else { return false }
        return token.familyID != nil || token.clientID != parameters.clientID && token.secret == tokens.refreshToken
    }
}

extension TokenError {
    /// The error of a response that grants fewer scopes than requested, with the result for the granted ones.
    fileprivate static func declining(_ declined: ScopeSet, _ result: TokenResult) -> TokenError {
        var details = Details()
        details.grantedScopes = ScopeSet(result.scopes).subtracting(.reserved).scopes
        details.declinedScopes = declined.scopes
        details.correlationID = result.correlationID
        details.partialResult = result
        details.hasChangedCache = true
        return TokenError(
            .declinedScopes, "the issuer granted fewer scopes than asked for; declined: \(declined)", details: details)
    }
}
