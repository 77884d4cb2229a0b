internal import TokenCache
internal import TokenEndpoint
internal import TokenModel

/// Sends refresh tokens to token endpoints, and saves the responses.
///
/// The redemption note of a refresh token of the cache is durable before the token is sent. The commit that saves the response deletes the
/// note: that of `TokenSaver.save` if there are tokens for the app, otherwise that of `settle`. The note of a token that was not sent is
/// deleted as well. If the token may have arrived and there is no response, the note stays: see `RedemptionNotes`.
///
/// No token is sent twice at the same time, since `RefreshTokenRedeemer` holds it in `tokensInUse` meanwhile.
///
/// Used on the actor of `CacheOwner` only.
final class RefreshTokenSender {
    private let memory: CacheMemory
    private let commits: CommitQueue
    private let reader: TokenReader
    private let notes: RedemptionNotes
    private let authorities: AuthorityResolver
    private let saver: TokenSaver
    private let service: any TokenService
    private let now: @Sendable () -> Int64

    init(_ core: AgentCore) {
        memory = core.memory
        commits = core.commits
        reader = core.reader
        notes = core.notes
        authorities = core.authorities
        saver = core.saver
        service = core.service
        now = core.now
    }

    /// Writes the redemption note, sends the refresh token, and saves the response.
    ///
    /// - Parameter username: the account's name as the request has it.
    /// - Returns: nil if another token had taken the place of this one by the time at which the note was durable: this one is not sent.
    func send(
        _ token: RefreshTokenRecord, _ plan: RedemptionPlan, _ parameters: TokenParameters, username: String?
    ) async throws(TokenError) -> TokenResult? {
        let group = parameters.sharingGroup
        let authority = try await authorities.resolve(
            plan.authority, parameters, username: principalName(of: plan.account, requested: username, in: group))
        if let refusal = commits.refusal { throw refusal }
        // Throws if the note cannot be written, or there is no room for the response: the token is not sent then, and stays valid.
        try await commits.write([notes.note(of: token, in: group, at: now())], isRetried: false)
        // If the tokens cannot be read, the redemption continues, since nothing shows that this token has been removed.
        try? await reader.read(memory.cache.accounts(withTokensOf: token.account, in: group), in: group)
        guard memory.cache.stillHolds(token, in: group), !memory.cache.isSignedOut(token.account, of: parameters) else {
            await deleteNote(of: token, in: group)
            throw TokenSaver.signedOutMeanwhile
        }
        guard !memory.cache.hasReplaced(token, in: group) else {
            await deleteNote(of: token, in: group)
            return nil
        }
        guard var request = authorities.tokenRequest(redeeming: token, at: authority, parameters) else {
            await deleteNote(of: token, in: group)
            throw Self.issuedElsewhere
        }
        request.subject = memory.cache.subject(
            of: plan.account, for: parameters.clientID, at: plan.authority, in: group)
        request.grantedScopes = memory.cache.grantedScopes(
            of: plan.account, for: parameters.clientID, at: plan.authority, in: group)
        let delivery = DeliveryTracker()
        let response: IssuedTokens
        do throws(TokenError) {
            response = try await service.redeem(request, delivery)
        } catch {
            var hasChanged = false
            if let refused = delivery.refusedTokens {
                hasChanged = try await saveReplacement(
                    in: refused, of: token, answering: request, at: plan.authority, group)
            } else if delivery.mayHaveArrived {
                hasChanged = try await saveRefusal(error, of: token, parameters)
            } else {
                await deleteNote(of: token, in: group)
            }
            throw error.ofRedemption(at: plan.authority).changingCache(hasChanged)
                .withAccount(plan.account, cache: memory.cache, in: group)
        }
        guard !response.names(anotherThan: token.account, at: plan.authority) else {
            let hasChanged = try await settle(token, in: group) { $0.changes(removing: token, in: group) }
            throw Self.otherAccount.changingCache(hasChanged)
                .withAccount(plan.account, cache: memory.cache, in: group)
        }
        do throws(TokenError) {
            // If the account has been removed meanwhile, the removal has deleted the note too.
            return try await saver.save(response, from: .redemption(token), parameters, at: plan.authority)
        } catch {
            guard error.code == .serverInvalidResponse else { throw error }
            throw error.changingCache(
                try await saveReplacement(in: response, of: token, answering: request, at: plan.authority, group))
        }
    }

    /// Saves the refresh token of a response that is not valid. It replaces the one that was sent (RFC 6749 section 6): without it, the
    /// user of a provider that rotates refresh tokens would have to sign in again. A response that names another user replaces nothing; the
    /// note stays, since the provider may have replaced the token that was sent.
    ///
    /// - Returns: whether it has changed the cache.
    private func saveReplacement(
        in response: IssuedTokens, of token: RefreshTokenRecord, answering request: TokenRequest,
        at authority: Authority, _ group: SharingGroup
    ) async throws(TokenError) -> Bool {
        guard !response.isOfAnotherUser(than: token, answering: request, at: authority) else {
            await keepNote(of: token, in: group)
            return false
        }
        return try await settle(token, in: group) {
            $0.changes(renewing: token, with: response, for: request.clientID, at: now(), in: group)
        }
    }

    /// Commits what a refusal changes in the cache, and deletes the note, before the waiting requests are answered.
    ///
    /// - Returns: whether it has removed tokens.
    private func saveRefusal(
        _ error: TokenError, of token: RefreshTokenRecord, _ parameters: TokenParameters
    ) async throws(TokenError) -> Bool {
        let group = parameters.sharingGroup
        // The token may have been redeemed nevertheless.
        guard error.details.oauthError != nil else {
            await keepNote(of: token, in: group)
            return false
        }
        let hasChanges = try await settle(token, in: group) {
            $0.changes(rejecting: token, for: parameters.clientID, in: group, error)
        }
        // Any other change is not one of tokens: that the app is no member of the family.
        return hasChanges && error.details.rejection != nil
    }

    /// Keeps the note of a refresh token that may have been replaced, although there is no other one in its place.
    private func keepNote(of token: RefreshTokenRecord, in group: SharingGroup) async {
        // What is in the store only may be the token that was sent, or one that a sign-in has saved in its place.
        try? await reader.read([token.account], in: group)
        notes.keepNote(of: token, in: group)
    }

    /// Commits the end of a redemption that brings no token: changes of the token's account, and the deletion of the note.
    ///
    /// - Returns: whether there are changes.
    private func settle(
        _ token: RefreshTokenRecord, in group: SharingGroup, _ changes: (CredentialCache) -> [CacheChange]
    ) async throws(TokenError) -> Bool {
        try await commits.commit(changing: [token.account], in: group) { () async throws(TokenError) in
            try? await reader.read([token.account], in: group)
            let (computed, settled) = (changes(memory.cache), notes.settled(by: token, in: group))
            return (CommitQueue.CacheCommit(changes: computed, settled: settled), !computed.isEmpty)
        }
    }

    /// The name of an account by whose domain an AD FS is validated: the requested one if it is one of the account's, or else the first one
    /// with a domain. An app may request any other name, of a domain that vouches for any host.
    ///
    /// - Parameter name: the account's name as the request has it.
    private func principalName(of account: AccountKey, requested name: String?, in group: SharingGroup) -> String? {
        let names = memory.cache.names(of: account, in: group)
        guard let first = names.first else { return name }
        let requested = names.filter { $0.lowercased() == name?.lowercased() }
        return (requested + names).first(where: AuthorityResolver.hasDomain) ?? first
    }

    /// Deletes the note of a refresh token that was not sent. That of an earlier redemption without a response stays.
    private func deleteNote(of token: RefreshTokenRecord, in group: SharingGroup) async {
        guard !notes.wasInterrupted(token, in: group), let key = notes.settled(by: token, in: group) else { return }
        try? await commits.write(notes.deletions(of: [key]))
    }

    /// Sends a grant that the app has, and saves the response. There is no note, since the grant is not the cache's.
    func send(_ request: RedeemGrant) async throws(TokenError) -> TokenResult {
        // The store may have been locked before the turn of the grant, or while the authority is resolved: nothing is sent any more.
        if let refusal = commits.refusal { throw refusal }
        let parameters = request.parameters
        let authority = try await authorities.resolve(
            parameters.authority, parameters, username: request.account.username)
        if let refusal = commits.refusal { throw refusal }
        let delivery = DeliveryTracker()
        var response: IssuedTokens
        do throws(TokenError) {
            response = try await service.redeem(
                authorities.tokenRequest(request.tokenGrant, at: authority, parameters), delivery)
        } catch {
            guard let refused = delivery.refusedTokens else { throw error }
            throw error.changingCache(await renewCopies(of: request, with: refused, at: authority))
        }
        let hasRenewed = await renewCopies(of: request, with: response, at: authority)
        // A refresh token stays valid if the response has none in its place (RFC 6749 section 6).
        if request.kind == .refreshToken { response.refreshToken = response.refreshToken ?? request.grant }
        do throws(TokenError) {
            return try await saver.save(response, from: .signIn, parameters, at: parameters.authority)
        } catch {
            throw error.changingCache(hasRenewed)
        }
    }

    /// Puts the refresh token of a response in the place of the app's one, where the cache has that one, too: it may have been used up.
    ///
    /// - Returns: whether it has changed the cache.
    private func renewCopies(
        of request: RedeemGrant, with response: IssuedTokens, at authority: Authority
    ) async -> Bool {
        guard request.kind == .refreshToken, response.refreshToken != nil else { return false }
        let (parameters, group) = (request.parameters, request.parameters.sharingGroup)
        var hasChanged = false
        for account in memory.cache.accounts(
            namedBy: request.account, response, at: parameters.authority, in: group)
        {
            try? await reader.read([account], in: group)
            guard let copy = memory.cache.refreshToken(request.grant, of: account, in: group),
                var answered = authorities.tokenRequest(redeeming: copy, at: authority, parameters)
            else { continue }
            answered.subject = memory.cache.subject(
                of: account, for: parameters.clientID, at: parameters.authority, in: group)
            // There is no note of the app's own grant.
            guard !response.isOfAnotherUser(than: copy, answering: answered, at: parameters.authority) else { continue }
            // What cannot be written now is in memory, and is written later.
            let renewed = try? await saveReplacement(
                in: response, of: copy, answering: answered, at: parameters.authority, group)
            hasChanged = hasChanged || renewed ?? true
        }
        return hasChanged
    }

    private static let issuedElsewhere = TokenError(
        .interactionRequired, "the refresh token was issued by another identity provider; sign in at this one",
        reason: .authority)

    private static let otherAccount = TokenError(
        .interactionRequired, "the refresh token was another account's, as its redemption has shown; sign in again",
        reason: .account)
}

extension IssuedTokens {
    /// Whether the response names another account than that of the refresh token. A file may have named a wrong one.
    ///
    /// An identifier that is too long for the store is another one there.
    fileprivate func names(anotherThan account: AccountKey, at authority: Authority) -> Bool {
        guard let named = homeAccountID, let known = account.homeAccountID, authority.kind != .openID,
            ValueLimits.isIdentifier(named.text)
        else { return false }
        return named != known
    }

    /// Whether the response is of another user than the refresh token, as far as it says whose it is.
    fileprivate func isOfAnotherUser(
        than token: RefreshTokenRecord, answering request: TokenRequest, at authority: Authority
    ) -> Bool {
        if names(anotherThan: token.account, at: authority) { return true }
        guard let known = request.subject, let subject = claims?.subject else { return false }
        return subject != known
    }
}

extension RedeemGrant {
    fileprivate var tokenGrant: Grant {
        switch kind {
        case .refreshToken: .refreshToken(grant)
        case .saml11: .assertion(grant, isSAML2: false)
        case .saml2: .assertion(grant, isSAML2: true)
        }
    }
}
