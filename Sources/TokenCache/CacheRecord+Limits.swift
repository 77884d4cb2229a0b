internal import TokenModel

/// Records as `ValueLimits` allows them: whatever is in the cache can be listed, and named in a request.
extension CacheRecord {
    /// The record with names for people cut to what a message may hold.
    ///
    /// - Throws: what is wrong with an identifier or a token, which cannot be cut.
    func withinLimits() throws(LimitViolation) -> CacheRecord {
        let record = try mapIdentifiers(LimitViolation.checked)
        try record.checkSecrets()
        return record.withShortNames
    }

    /// The record as it may be in the cache, from a store in which an earlier version wrote what does not fit; nil when
    /// nobody could ever be given it.
    ///
    /// An identifier that cannot be named gets another, always the same one, so that what belongs together stays together.
    var repaired: CacheRecord? {
        do throws(LimitViolation) {
            return try withinLimits()
        } catch {
            let record = try? mapIdentifiers { (_, text) throws(LimitViolation) in Self.nameable(text) }
            guard let record, (try? record.checkSecrets()) != nil else { return nil }
            return record.withShortNames
        }
    }

    private static func nameable(_ text: String) -> String {
        guard !ValueLimits.isIdentifier(text) else { return text }
        // In lower case, as accounts are compared: the same one may be spelt in several ways.
        let text = text.lowercased()
        return "\(UntrustedText.clean(text, limit: nameableStart).trimmedNonEmpty ?? "")~\(Fingerprint.of(text))"
    }

    private static let nameableStart = 128

    /// The record with every identifier passed through `body`.
    private func mapIdentifiers(
        _ body: (_ what: StaticString, _ text: String) throws(LimitViolation) -> String
    ) throws(LimitViolation) -> CacheRecord {
        switch self {
        case .account(var record):
            if let identifier = record.homeAccountID {
                record.homeAccountID = try body("home account ID", identifier)
            } else {
                record.username = try body("name", record.username)
            }
            record.environment = try body("environment", record.environment)
            record.realm = try body("realm", record.realm)
            return .account(record)
        case .accessToken(var record):
            record.owner = try record.owner.map(body)
            record.environment = try body("environment", record.environment)
            record.clientID = try record.clientID.map(body)
            record.realm = try body("realm", record.realm)
            return .accessToken(record)
        case .refreshToken(var record):
            record.owner = try record.owner.map(body)
            record.environment = try body("environment", record.environment)
            record.clientID = try record.clientID.map(body)
            if let family = record.familyID { record.familyID = FamilyID(try body("family ID", family.text)) }
            if let only = record.only { record.only?.realm = try body("realm", only.realm) }
            return .refreshToken(record)
        case .idToken(var record):
            record.owner = try record.owner.map(body)
            record.environment = try body("environment", record.environment)
            record.clientID = try record.clientID.map(body)
            record.realm = try body("realm", record.realm)
            return .idToken(record)
        case .appMetadata(var record):
            record.clientID = try body("client ID", record.clientID)
            record.environment = try body("environment", record.environment)
            record.familyID = try body("family ID", record.familyID)
            return .appMetadata(record)
        case .accountMetadata(var record):
            record.clientID = try body("client ID", record.clientID)
            if let identifier = record.homeAccountID { record.homeAccountID = try body("home account ID", identifier) }
            if let name = record.username { record.username = try body("name", name) }
            return .accountMetadata(record)
        case .principal(var record):
            record.clientID = try body("client ID", record.clientID)
            if let identifier = record.homeAccountID { record.homeAccountID = try body("home account ID", identifier) }
            record.environment = try body("environment", record.environment)
            return .principal(record)
        case .carried(var record):
            if let identifier = record.homeAccountID { record.homeAccountID = try body("home account ID", identifier) }
            if let clientID = record.clientID { record.clientID = try body("client ID", clientID) }
            return .carried(record)
        }
    }

    /// - Throws: what is wrong with what may neither be cut nor replaced.
    private func checkSecrets() throws(LimitViolation) {
        switch self {
        case .accessToken(let record):
            try LimitViolation.check(record.secret)
            try LimitViolation.check(record.scopes)
        case .refreshToken(let record):
            try LimitViolation.check(record.secret)
            if let only = record.only { try LimitViolation.check(only.scopes) }
        case .idToken(let record):
            guard record.idToken.utf8.count <= ValueLimits.idToken, ValueLimits.isPrintable(record.idToken) else {
                throw LimitViolation(
                    reason: "its token is longer than \(ValueLimits.idToken) bytes, or has control characters")
            }
            _ = try LimitViolation.checked("tenant", record.tenant)
        case .account, .appMetadata, .accountMetadata, .principal, .carried: break
        }
    }

    /// With the names that people read cut, and without what is no use when it is too long.
    private var withShortNames: CacheRecord {
        switch self {
        case .account(var record):
            record.username = ValueLimits.name(record.username)
            record.authorityType = ValueLimits.name(record.authorityType)
            record.name = record.name.map { ValueLimits.name($0) }
            record.givenName = record.givenName.map { ValueLimits.name($0) }
            record.familyName = record.familyName.map { ValueLimits.name($0) }
            record.alternativeAccountID = record.alternativeAccountID.map { ValueLimits.name($0) }
            if let identifier = record.localAccountID, !ValueLimits.isIdentifier(identifier) {
                record.localAccountID = nil
            }
            if let info = record.clientInfo, info.utf8.count > ValueLimits.longText { record.clientInfo = nil }
            return .account(record)
        case .accessToken(var record):
            record.tokenType = ValueLimits.name(record.tokenType)
            return .accessToken(record)
        case .accountMetadata(var record):
            let isFitting = { (url: String) in
                url.utf8.count <= 2 * ValueLimits.authority && ValueLimits.isPrintable(url)
            }
            if !record.authorityMap.allSatisfy({ isFitting($0.key) && isFitting($0.value) }) {
                record.authorityMap = record.authorityMap.filter { isFitting($0.key) && isFitting($0.value) }
            }
            return .accountMetadata(record)
        case .principal(var record):
            record.username = record.username.map { ValueLimits.name($0) }
            return .principal(record)
        case .refreshToken, .idToken, .appMetadata, .carried: return self
        }
    }
}

extension OwnerID {
    /// With its identifier or name passed through `body`.
    fileprivate func map(
        _ body: (_ what: StaticString, _ text: String) throws(LimitViolation) -> String
    ) throws(LimitViolation) -> OwnerID {
        switch self {
        case .home(let identifier):
            let text = try body("home account ID", identifier.text)
            return text == identifier.text ? self : OwnerID(homeAccountID: HomeAccountID(text), username: nil)
        case .name(let name): return .name(try body("name", name))
        }
    }
}

extension ClientID {
    fileprivate func map(
        _ body: (_ what: StaticString, _ text: String) throws(LimitViolation) -> String
    ) throws(LimitViolation) -> ClientID {
        let text = try body("client ID", text)
        return text == self.text ? self : ClientID(text) ?? self
    }
}
