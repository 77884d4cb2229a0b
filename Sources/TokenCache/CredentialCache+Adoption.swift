internal import TokenModel
internal import TokenStore

/// An account that was known by its name alone gets its identifier, by the first redemption of one of its refresh tokens.
extension CredentialCache {
    /// Moves what the cache holds under the name to the identifier, so that every app finds it there: those that go by
    /// name as before, and those that know the identifier.
    ///
    /// Refresh tokens in use stay where they are: their own redemptions bring newer ones, which must not be overwritten.
    func adoptedRecords(_ saving: Saving, in partition: Partition, leaving inUse: Set<Secret>) -> [CacheChange] {
        guard case .redemption(let used) = saving.issuance, case .name = used.owner,
            case .home(let identifier) = saving.owner
        else { return [] }
        let holdings = partition[saving.owner]
        let group = saving.parameters.sharingGroup
        var changes: [CacheChange] = []
        for record in partition[used.owner].records {
            if let environment = record.environment, !clouds.sameCloud(environment, saving.environment) { continue }
            let moved = record.moved(to: identifier)
            if case .refreshToken(let token) = record, !saving.replaces(token, used) {
                // What the account has already may be the better one, or not: both are kept.
                if holdings.holds(moved) || token.secret != used.secret && inUse.contains(token.secret) { continue }
                changes.append(.save(moved))
            } else if !saving.replaces(record), !holdings.holds(moved) {
                changes.append(.save(moved))
            }
            changes.append(.remove(record.key(in: group), owner: used.owner))
        }
        return changes
    }
}

extension Saving {
    /// Whether the response brought a newer one of the token that was used: the app's own, or its family's.
    fileprivate func replaces(_ token: RefreshTokenRecord, _ used: RefreshTokenRecord) -> Bool {
        guard tokens.refreshToken != nil, token.secret == used.secret || token.only == nil else { return false }
        guard let family = token.familyID else { return token.clientID == parameters.clientID }
        return family == tokens.familyID
    }

    /// Whether the response says all that the record says, and newer.
    fileprivate func replaces(_ record: CacheRecord) -> Bool {
        switch record {
        case .refreshToken: true
        case .account: claims != nil
        case .accountMetadata(let metadata): ClientID(metadata.clientID) == parameters.clientID
        case .accessToken, .idToken, .appMetadata, .carried, .principal: false
        }
    }
}

extension CacheRecord {
    /// The same, of an account by its identifier.
    func moved(to identifier: HomeAccountID) -> CacheRecord {
        switch self {
        case .account(var record):
            record.homeAccountID = identifier.text
            return .account(record)
        case .accessToken(var record):
            record.owner = .home(identifier)
            return .accessToken(record)
        case .refreshToken(var record):
            record.owner = .home(identifier)
            return .refreshToken(record)
        case .idToken(var record):
            record.owner = .home(identifier)
            return .idToken(record)
        case .accountMetadata(var record):
            record.homeAccountID = identifier.text
            record.username = nil
            return .accountMetadata(record)
        case .appMetadata, .carried, .principal: return self
        }
    }
}
