package import TokenModel

/// An identity provider at which an account may have a session in a browser.
package struct SignOutPlace: Sendable, Equatable {
    /// The authority at which the account has signed in.
    package var authority: Authority
    /// An app that has signed in there; nil if none is known.
    package var clientID: ClientID?

    package init(authority: Authority, clientID: ClientID? = nil) {
        self.authority = authority
        self.clientID = clientID
    }
}

extension CredentialCache {
    /// The identity providers at which the accounts that a sign-out means may have a session in a browser, in the order of the accounts; none
    /// for a removal of everything. Of very many accounts with one name, the first ones are examined.
    ///
    /// - Parameter localScheme: the URL scheme of authorities on this machine, `http` or `https`, if the cache does not name it.
    package func signOutPlaces(of request: RemoveAccount, localScheme: String) -> [SignOutPlace] {
        guard request.extent != .everything else { return [] }
        let partition = partition(request.sharingGroup)
        var sessions: Set<String> = []
        let accounts = accounts(of: request, in: partition).prefix(Self.examinedForPlaces)
        return accounts.compactMap { account -> SignOutPlace? in
            let credentials = partition[account]
            if request.isConfined, !isKnown(credentials, to: request.clientID, in: partition) { return nil }
            guard let place = signOutPlace(of: account, credentials, request, localScheme: localScheme) else {
                return nil
            }
            // Entra's tenants share the session of their host.
            let session = place.authority.kind == .entra ? place.authority.environment : place.authority.url
            return sessions.insert(session).inserted ? place : nil
        }
    }

    private static let examinedForPlaces = 64

    private func signOutPlace(
        of account: AccountKey, _ credentials: AccountCredentials, _ request: RemoveAccount, localScheme: String
    ) -> SignOutPlace? {
        guard account.issuer != .unresolved, let record = credentials.orderedAccounts.first,
            let kind = providerKind(of: account, credentials, record)
        else { return nil }
        let tenant = record.realm.trimmedNonEmpty ?? account.homeAccountID?.tenantID
        for metadata in credentials.appsThatMayBeNamed(to: request) {
            let used = metadata.authorities(of: kind).filter {
                clouds.issuer(of: $0) == account.issuer && clouds.sameCloud($0.environment, record.environment)
            }
            guard let authority = used.min(by: { $0.url < $1.url }) else { continue }
            let home = kind == .entra ? tenant.map { authority.withRealm($0) } ?? authority : authority
            return SignOutPlace(
                authority: clouds.networkAuthority(of: home), clientID: ClientID(metadata.clientID))
        }
        guard let place = Self.hostAndPath(kind, account, record, tenant) else { return nil }
        let isLocal = URLParts.isLoopback(host: URLParts.host(ofEnvironment: record.environment))
        let authority = try? Authority("\(isLocal ? localScheme : "https")://\(place)", kind: kind)
        return authority.map { SignOutPlace(authority: clouds.networkAuthority(of: $0)) }
    }

    /// The kind of an account's provider: that of its refresh tokens, or else the one that follows from its record.
    private func providerKind(
        of account: AccountKey, _ credentials: AccountCredentials, _ record: AccountRecord
    ) -> Authority.Kind? {
        let bound = Set(credentials.refreshTokens.values.compactMap { $0.binding?.kind })
        if bound.count == 1, let kind = bound.first { return kind }
        return switch record.authorityType {
        case AccountRecord.entraType: AccountCredentials.entraKind(of: account, at: record.environment, clouds)
        case AccountRecord.adfsType: .adfs
        default: .openID
        }
    }

    /// The host and the path of an authority that no app is known to have used, as after the sign-out of the only app; nil if they do not
    /// follow from the account, as the policy of B2C.
    private static func hostAndPath(
        _ kind: Authority.Kind, _ account: AccountKey, _ record: AccountRecord, _ tenant: String?
    ) -> String? {
        switch kind {
        case .entra: return tenant.map { "\(record.environment)/\($0)" }
        case .ciam:
            // A path of several segments is that of a policy.
            guard let path = account.issuer.customDomainPath ?? tenant, !path.contains("/") else { return nil }
            return "\(record.environment)/\(path)"
        case .adfs: return "\(record.environment)/adfs"
        // Its path has the case that the provider has given it.
        case .openID: return account.issuer.text
        case .b2c: return nil
        }
    }
}

extension AccountCredentials {
    /// The records of the apps whose authorities a sign-out may use and name: the request's app first. A request that is limited to its app
    /// learns nothing of others.
    fileprivate func appsThatMayBeNamed(to request: RemoveAccount) -> [AccountMetadataRecord] {
        let own = [metadata[request.clientID.key]].compactMap(\.self)
        guard request.extent == .account, !request.isConfined else { return own }
        let others = metadata.filter { !$0.key.hasSameBytes(as: request.clientID.key) }.sorted { $0.key < $1.key }
        return own + others.map(\.value)
    }
}
