package import TokenModel

/// Records that stand for the same thing under different host names of one cloud: other libraries save under an alias.
extension AccountCredentials {
    /// The record that is saved under another name of `record`'s cloud; nil if there is one under the same name.
    ///
    /// Nil for access tokens: a new one replaces every token that has one of its scopes (`replacedTokens`).
    func aliasMatch(of record: CacheRecord, _ clouds: CloudDirectory) -> CacheRecord? {
        guard !contains(record) else { return nil }
        return switch record {
        case .account(let record): account(like: record, clouds)?.record
        case .refreshToken(let token): refreshToken(like: token, clouds)?.record
        case .idToken(let token): idToken(sameAs: token, clouds)?.record
        default: nil
        }
    }

    /// Whether there is an account record of a cloud.
    package func isKnown(at environment: String, _ clouds: CloudDirectory) -> Bool {
        accounts.values.contains { clouds.sameCloud($0.environment, environment) }
    }

    /// The record of the same tenant, under any name of the cloud.
    package func account(like record: AccountRecord, _ clouds: CloudDirectory) -> AccountRecord? {
        accounts[record.key]
            ?? accounts.values.filter {
                $0.realm == record.realm && clouds.sameCloud($0.environment, record.environment)
            }.min { $0.key < $1.key }
    }

    /// The account in the tenant whose directory has the user of a record that does not name the tenant, under any name of the cloud.
    package func account(ofUserLike record: AccountRecord, _ clouds: CloudDirectory) -> AccountRecord? {
        guard let user = record.localAccountID else { return nil }
        return accounts.values.filter {
            $0.namesDirectoryUser && $0.localAccountID == user && clouds.sameCloud($0.environment, record.environment)
        }.min { $0.key < $1.key }
    }

    /// The refresh token of the same app or family; of several under different names of the cloud, the newest.
    package func refreshToken(like token: RefreshTokenRecord, _ clouds: CloudDirectory) -> RefreshTokenRecord? {
        refreshTokens[token.key]
            ?? refreshTokens.values.filter {
                $0.familyID == token.familyID && $0.restriction == token.restriction
                    && (token.familyID != nil || $0.isOwn(of: token.clientID))
                    && clouds.sameCloud($0.environment, token.environment)
            }.max { ($0.obtainedOn ?? 0, $0.key) < ($1.obtainedOn ?? 0, $1.key) }
    }

    /// The access token of the same app, realm and scopes, under any name of the cloud.
    package func accessToken(like token: AccessTokenRecord, _ clouds: CloudDirectory) -> AccessTokenRecord? {
        accessTokens[token.key]
            ?? accessTokens(of: token.series).filter {
                $0.scopes == token.scopes && clouds.sameCloud($0.environment, token.environment)
            }.min { $0.key < $1.key }
    }

    /// The ID token of the same app and realm, under any name of the cloud.
    package func idToken(sameAs token: IDTokenRecord, _ clouds: CloudDirectory) -> IDTokenRecord? {
        idTokens[token.key]
            ?? idTokens.values.filter {
                $0.series == token.series && clouds.sameCloud($0.environment, token.environment)
            }.min { $0.key < $1.key }
    }
}

extension CacheRecord {
    /// The record with the unknown fields of `match`, which it replaces under another name of the cloud.
    func inheritingUnknownFields(from match: CacheRecord) -> CacheRecord {
        let old = match.header
        guard let json = old.unknownFields, let environment = old.environment, environment != header.environment
        else { return self }
        var fields = UnknownFields(json)
        fields.addEnvironment(environment)
        return changed { $0.setUnknownFields(fields.json) }
    }
}
