package import TokenModel

/// What a published socket serves, and to whom: pure functions of the request and of its result.
///
/// A request is refused rather than changed, except that the account is filled in, the redirect URI left out, and the app and its scopes
/// are spelled as published. A result is checked again, whatever the request says: an identity provider may grant more than was
/// requested, and a cached token may have more scopes.
package struct SocketRules: Sendable, Equatable {
    /// The users who may connect.
    package var userIDs: Set<UInt32>
    package var clientIDs: Set<ClientID>
    package var sharingGroup: SharingGroup
    /// The scopes that tokens may have; empty for every scope.
    package var scopes: ScopeSet
    /// The authorities that requests may name; empty for those that lead to the account's home tenant, or to the one authority of its
    /// provider. B2C and External ID have many, of which only those are served that are named here.
    package var authorities: [Authority]
    /// The account that is served; nil for every account.
    package var account: AccountReference?

    package init(
        userIDs: Set<UInt32>, clientIDs: Set<ClientID>, sharingGroup: SharingGroup, scopes: ScopeSet,
        authorities: [Authority], account: AccountReference?
    ) {
        self.userIDs = userIDs
        self.clientIDs = clientIDs
        self.sharingGroup = sharingGroup
        self.scopes = scopes
        self.authorities = authorities
        self.account = account
    }

    /// The longest time before its expiry from which on a request may count a token as expired, in seconds. With a longer one, each
    /// request would redeem a refresh token.
    package static let longestBuffer: Int64 = 300

    /// Whether a user may connect.
    package func admits(userID: UInt32) -> Bool { userIDs.contains(userID) }

    // MARK: Requests

    /// A silent request as it may be answered.
    ///
    /// - Throws: `requestDenied` (-53011) with the reason.
    package func admitted(_ request: AcquireTokenSilent) throws(TokenError) -> AcquireTokenSilent {
        let parameters = request.parameters
        try require(parameters.clientID, parameters.sharingGroup)
        guard !request.forceRefresh, request.expirationBuffer <= Self.longestBuffer else {
            throw Self.denied("it does not renew tokens before they expire; \(Self.agentsOwn)")
        }
        guard parameters.claims == nil, parameters.capabilities.isEmpty, parameters.extraParameters.isEmpty else {
            throw Self.denied(
                "it does not serve requests with claims, capabilities or further parameters; \(Self.agentsOwn)")
        }
        if !scopes.isEmpty {
            let requested = parameters.scopes.subtracting(.reserved)
            // The empty set is a subset of every token's scopes.
            guard !requested.isEmpty, requested.isSubset(of: scopes) else {
                throw Self.denied(
                    "it serves other scopes or resources; to serve these, publish a socket with --scope or --resource"
                )
            }
        }
        try require(parameters.authority)
        var request = request
        // The token endpoint compares the redirect URI with the app's registration, and would refuse the refresh token
        // for a wrong one, which any peer could send.
        request.parameters.redirectURI = nil
        // For OpenID providers, case matters in both.
        if let index = clientIDs.firstIndex(of: parameters.clientID) {
            request.parameters.clientID = clientIDs[index]
        }
        let spellings = Dictionary(
            scopes.union(.reserved).scopes.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        request.parameters.scopes = ScopeSet(parameters.scopes.scopes.map { spellings[$0.lowercased()] ?? $0 })
        if let account {
            guard account.isMeant(by: request.account) else { throw Self.denied(Self.otherAccount) }
            request.account = account
        }
        try requireHomeTenant(of: request)
        return request
    }

    /// A request for a list of accounts as it may be answered; nil if the list is empty.
    ///
    /// - Throws: `requestDenied` (-53011) with the reason.
    package func admitted(_ request: ListAccounts) throws(TokenError) -> ListAccounts? {
        guard let clientID = request.clientID, request.onlySignedIn else {
            throw Self.denied(
                "it lists the accounts of one app, which are signed in; name it with --app or --client-id")
        }
        try require(clientID, request.sharingGroup)
        guard let account else { return request }
        guard account.isMeant(by: AccountReference(homeAccountID: request.homeAccountID, username: nil)) else {
            return nil
        }
        var request = request
        request.homeAccountID = account.homeAccountID
        if account.homeAccountID == nil {
            guard account.isMeant(by: AccountReference(username: request.username)) else { return nil }
            request.username = account.username
        }
        return request
    }

    /// Checks a request for the current account.
    ///
    /// - Throws: `requestDenied` (-53011) with the reason.
    package func check(_ request: GetCurrentAccount) throws(TokenError) {
        try require(request.clientID, request.sharingGroup)
    }

    // MARK: Results

    /// Checks the outcome of a silent request that was admitted: the token must not reach further than the socket allows.
    package func checked(
        _ outcome: Result<TokenResult, TokenError>, of request: AcquireTokenSilent
    ) -> Result<TokenResult, TokenError> {
        do throws(TokenError) {
            switch outcome {
            case .success(let result): try check(result, of: request)
            case .failure(let error):
                // Fewer scopes were granted than requested, and perhaps others as well.
                if let result = error.details.partialResult { try check(result, of: request) }
            }
            return outcome
        } catch {
            return .failure(error)
        }
    }

    private func check(_ result: TokenResult, of request: AcquireTokenSilent) throws(TokenError) {
        if let account, !account.matches(result.account) { throw Self.denied(Self.otherAccount) }
        if authorities.isEmpty, request.parameters.authority.kind == .entra {
            let isHome =
                result.tenantProfile?.isHome ?? leadsHome(request.parameters.authority, result.account.homeAccountID)
            guard isHome else { throw Self.denied(Self.otherTenant) }
        }
        let surplus = surplus(of: ScopeSet(result.scopes), request.parameters.scopes)
        guard surplus.isEmpty else {
            throw Self.denied(
                "the token has further permissions (\(UntrustedText.clean(surplus.target, limit: 512))); to serve it, publish a "
                    + "socket with these scopes too, or with the resource")
        }
    }

    /// The granted scopes that the socket does not allow. A request for all permissions of an allowed resource (`/.default`) may get
    /// each of them, unless it names other scopes too: a provider that does not know the resource ignores it, and grants more of those.
    private func surplus(of granted: ScopeSet, _ requested: ScopeSet) -> ScopeSet {
        let requested = requested.subtracting(.ofNoResource).scopes
        let isResource =
            !requested.isEmpty
            && requested.allSatisfy { $0.lowercased().hasSuffix("/.default") && scopes.contains($0) }
        guard !scopes.isEmpty, !isResource else { return ScopeSet([]) }
        return granted.subtracting(.ofNoResource).subtracting(scopes)
    }

    /// The accounts of a list that are served. Profiles of other tenants are left out, unless an authority names their tenant.
    package func visible(_ accounts: [Account]) -> [Account] {
        let realms = Set(authorities.map { $0.realm.lowercased() })
        return accounts.filter { account?.matches($0) ?? true }.map { account in
            var account = account
            account.tenantProfiles.removeAll { !$0.isHome && !realms.contains($0.realm.lowercased()) }
            return account
        }
    }

    // MARK: Parts of requests

    private func require(_ clientID: ClientID, _ group: SharingGroup) throws(TokenError) {
        guard clientIDs.contains(clientID) else {
            throw Self.denied(
                "it serves other apps; to serve this one, publish a socket with --app or --client-id for it too")
        }
        guard group == sharingGroup else {
            throw Self.denied(
                "it serves another sharing group; to serve this one, publish a socket with --group for it")
        }
    }

    private func require(_ authority: Authority) throws(TokenError) {
        guard authorities.isEmpty || authorities.contains(authority) else {
            throw Self.denied(
                "it serves other authorities; to serve this one, publish a socket with --authority for it too")
        }
        // Each policy, and each tenant at a domain, would get the owner's refresh token.
        guard !authorities.isEmpty || authority.kind != .b2c && authority.kind != .ciam else {
            throw Self.denied("it serves no authority of B2C or External ID; publish a socket with --authority for one")
        }
    }

    /// Refuses a tenant that is not the account's, before a token of it is requested. A request that does not identify the account is
    /// decided by its result.
    private func requireHomeTenant(of request: AcquireTokenSilent) throws(TokenError) {
        let authority = request.parameters.authority
        guard authorities.isEmpty, authority.kind == .entra, let identifier = request.account.homeAccountID,
            !leadsHome(authority, identifier)
        else { return }
        throw Self.denied(Self.otherTenant)
    }

    private func leadsHome(_ authority: Authority, _ identifier: HomeAccountID?) -> Bool {
        authority.isTenantless || authority.realm == identifier?.tenantID
    }

    /// The error of a request that a socket does not serve.
    package static func denied(_ reason: String) -> TokenError {
        TokenError(.requestDenied, "this socket is published for some requests only: \(reason)")
    }

    private static let otherTenant =
        "it serves the account's home tenant, by its ID or as common or organizations; to serve another one, publish a socket with "
        + "--authority for it"

    private static let otherAccount =
        "it serves another account; to serve this one, publish a socket with --account for it, or without --account for every one"

    private static let agentsOwn = "that needs the agent's own socket"
}

/// Comparison with the account that a socket is limited to.
extension AccountReference {
    /// Whether a request that names an account can mean this one.
    fileprivate func isMeant(by reference: AccountReference) -> Bool {
        if let identifier = reference.homeAccountID { return identifier == homeAccountID }
        guard let name = reference.username else { return true }
        return name.lowercased() == username?.lowercased()
    }

    /// Whether an account in a reply is this one. Without an identifier, the usernames are compared.
    fileprivate func matches(_ account: Account) -> Bool {
        if let homeAccountID { return account.homeAccountID == homeAccountID }
        return account.homeAccountID == nil && account.username?.lowercased() == username?.lowercased()
    }
}
