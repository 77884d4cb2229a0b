internal import TokenModel

/// Records that stand for the same thing under different names of one cloud.
extension Holdings {
    /// What is under another name of the record's cloud; nil where something is under its own.
    ///
    /// Access tokens have rules of their own: a new one replaces all whose scopes it takes over.
    func twin(of record: CacheRecord, _ clouds: CloudDirectory) -> CacheRecord? {
        guard !holds(record) else { return nil }
        return switch record {
        case .account(let record): account(like: record, clouds).map(CacheRecord.account)
        case .refreshToken(let token): refreshToken(like: token, clouds).map(CacheRecord.refreshToken)
        case .idToken(let token): idToken(sameAs: token, clouds).map(CacheRecord.idToken)
        case .accessToken, .appMetadata, .accountMetadata, .carried, .principal: nil
        }
    }
}

extension CacheRecord {
    /// With what another library wrote of `twin`, if one did.
    func inheriting(from twin: CacheRecord) -> CacheRecord {
        guard let foreign = twin.unknownFields, let environment = twin.environment, environment != self.environment
        else {
            return self
        }
        var item = UnifiedItem()
        item.take(foreign: foreign)
        if item["environment"] == nil { item.put("environment", environment) }
        let all = JSONTree.object(item.members).json
        switch self {
        case .account(var record):
            record.foreign = all
            return .account(record)
        case .refreshToken(var token):
            token.foreign = all
            return .refreshToken(token)
        case .accessToken(var token):
            token.foreign = all
            return .accessToken(token)
        case .idToken(var token):
            token.foreign = all
            return .idToken(token)
        case .appMetadata, .accountMetadata, .carried, .principal: return self
        }
    }
}
