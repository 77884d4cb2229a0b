internal import TokenModel

/// Which account a request means.
enum OwnerChoice {
    case one(OwnerID)
    case several
    case none
}

extension CredentialCache {
    /// The account a silent request means: by identifier; else by name; else, for ADAL, whoever is the only one.
    func owner(for request: AcquireTokenSilent, in partition: Partition) -> OwnerChoice {
        let parameters = request.parameters
        if let identifier = request.account.homeAccountID { return .one(.home(identifier)) }
        if let name = request.account.username {
            let owners = partition.owners(named: name)
            return preferred(among: owners, for: parameters, in: partition).map(OwnerChoice.one) ?? .none
        }
        let usable = partition.owners.keys.filter { isUsable($0, for: parameters, in: partition) }
        guard let only = usable.first else { return .none }
        return usable.count == 1 ? .one(only) : .several
    }

    /// Of several accounts with one name, the first that this app could get a token for.
    private func preferred(
        among owners: [OwnerID], for parameters: TokenParameters, in partition: Partition
    ) -> OwnerID? {
        owners.first { isUsable($0, for: parameters, in: partition) } ?? owners.first
    }

    private func isUsable(_ owner: OwnerID, for parameters: TokenParameters, in partition: Partition) -> Bool {
        let holdings = partition[owner]
        guard !holdings.isSignedOut(parameters.clientID) else { return false }
        let authority = effectiveAuthority(of: parameters, owner: owner, holdings: holdings)
        return !refreshTokens(for: parameters, at: authority, holdings: holdings, in: partition).isEmpty
            || holdings.accessTokens.values.contains { matches($0, parameters, at: authority) }
    }
}
