internal import TokenModel

/// Which account a request means.
enum OwnerChoice {
    case one(OwnerID)
    case several
    case none
}

extension CredentialCache {
    /// The account a silent request means: by identifier; else by name; else, for ADAL, whoever is the only one.
    func owner(for request: AcquireTokenSilent, in partition: Partition, now: Int64) -> OwnerChoice {
        if let identifier = request.account.homeAccountID { return .one(.home(identifier)) }
        if let name = request.account.username { return owner(named: name, request, in: partition, now: now) }
        return onlyOwner(for: request, in: partition, now: now)
    }

    /// Of several accounts with one name, the first that this app could get a token for.
    ///
    /// ADAL looks for an access token before it looks for refresh tokens, and takes that of a sign-in without a user, as
    /// AD FS has them, for anybody's.
    private func owner(
        named name: String, _ request: AcquireTokenSilent, in partition: Partition, now: Int64
    ) -> OwnerChoice {
        let owners = partition.owners(named: name)
        if request.parameters.version == .v1,
            let holder = (owners + [.unnamed]).first(where: { holdsItem($0, for: request, in: partition, now: now) })
        {
            return .one(holder)
        }
        let usable = owners.first { isUsable($0, for: request.parameters, in: partition) }
        return (usable ?? owners.first).map(OwnerChoice.one) ?? .none
    }

    /// Whoever is the only one, each kind of token by itself, as ADAL counts: two people's refresh tokens do not matter
    /// where only one of them has an access token.
    ///
    /// ADAL never hears of accounts that only MSAL apps signed in to. One such account is welcome; several are not counted.
    private func onlyOwner(
        for request: AcquireTokenSilent, in partition: Partition, now: Int64
    ) -> OwnerChoice {
        let parameters = request.parameters
        let usable = partition.owners.keys.filter { isUsable($0, for: parameters, in: partition) }
        guard parameters.version == .v1 else {
            return usable.count > 1 ? .several : usable.first.map(OwnerChoice.one) ?? .none
        }
        let known = usable.filter { partition[$0].isKnownToADAL }
        let steps: [(OwnerID) -> Bool] = [
            { hasItem($0, for: parameters, in: partition) },
            { owner in refreshTokens(of: owner, for: parameters, in: partition).contains { $0.familyID == nil } },
            { _ in true },
        ]
        for step in steps {
            let people = Set(known.filter(step).map { partition[$0].userID })
            if people.count > 1 { return .several }
            if let name = people.first { return owner(named: name, request, in: partition, now: now) }
        }
        return usable.count == 1 ? .one(usable[0]) : .none
    }

    /// Whether the owner has what ADAL calls an item of the resource: an access token, or a refresh token for it alone.
    private func hasItem(_ owner: OwnerID, for parameters: TokenParameters, in partition: Partition) -> Bool {
        partition[owner].accessTokens.values.contains { matches($0, parameters, at: parameters.authority) }
            || refreshTokens(of: owner, for: parameters, in: partition).contains { $0.isSingleResource }
    }

    /// Whether such an item is there and still good.
    private func holdsItem(
        _ owner: OwnerID, for request: AcquireTokenSilent, in partition: Partition, now: Int64
    ) -> Bool {
        let (parameters, holdings) = (request.parameters, partition[owner])
        guard !holdings.isSignedOut(parameters.clientID) else { return false }
        let isAnyTokenWelcome = !request.forceRefresh && parameters.claims == nil
        return isAnyTokenWelcome
            && holdings.accessTokens.values.contains {
                matches($0, parameters, at: parameters.authority)
                    && !$0.isExpired(at: now, buffer: request.expirationBuffer)
            } || refreshTokens(of: owner, for: parameters, in: partition).contains { $0.isSingleResource }
    }

    private func refreshTokens(
        of owner: OwnerID, for parameters: TokenParameters, in partition: Partition
    ) -> [RefreshTokenRecord] {
        let holdings = partition[owner]
        let authority = effectiveAuthority(of: parameters, owner: owner, holdings: holdings)
        return refreshTokens(for: parameters, at: authority, holdings: holdings, in: partition)
    }

    private func isUsable(_ owner: OwnerID, for parameters: TokenParameters, in partition: Partition) -> Bool {
        let holdings = partition[owner]
        guard !holdings.isSignedOut(parameters.clientID) else { return false }
        let authority = effectiveAuthority(of: parameters, owner: owner, holdings: holdings)
        return !refreshTokens(of: owner, for: parameters, in: partition).isEmpty
            || holdings.accessTokens.values.contains { matches($0, parameters, at: authority) }
    }
}

extension Holdings {
    /// The name ADAL keeps the account's tokens under; empty for a sign-in without a user.
    fileprivate var userID: String { orderedAccounts.first?.username.lowercased() ?? "" }

    /// Whether an app that uses ADAL signed in to the account.
    fileprivate var isKnownToADAL: Bool {
        accounts.values.contains { $0.source == "adal" } || idTokens.values.contains { $0.version == .v1 }
    }
}
