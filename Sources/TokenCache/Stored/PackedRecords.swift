internal import TokenModel

/// The packed forms of records, in which the store keeps them. The account that a record belongs to is the first three fields.
extension AccountKey {
    fileprivate init?(_ reader: inout FieldReader) {
        let identifier = reader.bytes(.homeAccountID).flatMap(reader.texts.homeAccountID)
        let name = identifier == nil ? reader.text(.username) : nil
        guard identifier != nil || name != nil, let issuer = reader.sharedText(.issuer) else { return nil }
        self.init(issuer: Issuer(issuer), homeAccountID: identifier, username: name)
    }

    fileprivate func pack(into writer: inout FieldWriter) {
        writer.put(.homeAccountID, homeAccountID?.text)
        writer.put(.username, name)
        writer.put(.issuer, issuer.text)
    }
}

extension AccountRecord {
    package init?(_ reader: inout FieldReader) {
        let homeAccountID = reader.sharedText(.homeAccountID)
        guard let username = reader.text(.username), let issuer = reader.sharedText(.issuer),
            let environment = reader.sharedText(.environment), let realm = reader.sharedText(.realm)
        else { return nil }
        let unknownFields = reader.text(.unknownFields)
        let localAccountID = reader.text(.localAccountID)
        guard let authorityType = reader.sharedText(.authorityType) else { return nil }
        let (name, givenName, familyName) = (reader.text(.name), reader.text(.givenName), reader.text(.familyName))
        let (alternative, clientInfo) = (reader.text(.alternativeAccountID), reader.text(.clientInfo))
        guard let source = reader.sharedText(.source) else { return nil }
        self.init(
            issuer: Issuer(issuer), homeAccountID: homeAccountID, environment: environment, realm: realm,
            localAccountID: localAccountID, username: username, authorityType: authorityType, name: name,
            givenName: givenName, familyName: familyName, alternativeAccountID: alternative, clientInfo: clientInfo,
            source: source, unknownFields: unknownFields, adalUserID: reader.text(.adalUserID))
        for _ in 0..<Self.maximumFormerUserIDs {
            guard let former = reader.text(.formerUserID) else { break }
            formerUserIDs = (formerUserIDs ?? []) + [former]
        }
    }

    package func pack(into writer: inout FieldWriter) {
        writer.put(.homeAccountID, homeAccountID)
        writer.put(.username, username)
        writer.put(.issuer, account.issuer.text)
        writer.put(.environment, environment)
        writer.put(.realm, realm)
        writer.put(.unknownFields, unknownFields)
        writer.put(.localAccountID, localAccountID)
        writer.put(.authorityType, authorityType)
        writer.put(.name, name)
        writer.put(.givenName, givenName)
        writer.put(.familyName, familyName)
        writer.put(.alternativeAccountID, alternativeAccountID)
        writer.put(.clientInfo, clientInfo)
        writer.put(.source, source)
        writer.put(.adalUserID, adalUserID)
        for former in formerUserIDs ?? [] { writer.put(.formerUserID, former) }
    }
}

extension AccessTokenRecord {
    package init?(_ reader: inout FieldReader) {
        guard let account = AccountKey(&reader), let environment = reader.sharedText(.environment),
            let realm = reader.sharedText(.realm),
            let clientID = reader.bytes(.clientID).flatMap(reader.texts.clientID),
            let scopes = reader.bytes(.target).map(reader.texts.scopes), let secret = reader.token(.secret),
            let tokenType = reader.sharedText(.tokenType), let cachedAt = reader.time(.cachedAt),
            let expiresOn = reader.time(.expiresOn)
        else { return nil }
        let (extended, refreshOn) = (reader.time(.extendedExpiresOn), reader.time(.refreshOn))
        guard let version = OAuthVersion(packed: reader.number(.version)) else { return nil }
        self.init(
            account: account, environment: environment, clientID: clientID, realm: realm, version: version,
            scopes: scopes, tokenType: tokenType, secret: secret, cachedAt: cachedAt, expiresOn: expiresOn,
            extendedExpiresOn: extended, refreshOn: refreshOn, unknownFields: reader.text(.unknownFields))
    }

    package func pack(into writer: inout FieldWriter) {
        account.pack(into: &writer)
        writer.put(.environment, environment)
        writer.put(.realm, realm)
        writer.put(.clientID, clientID.text)
        writer.put(.target, scopes.target)
        writer.put(.secret, token: secret)
        writer.put(.tokenType, tokenType)
        writer.put(.cachedAt, number: cachedAt)
        writer.put(.expiresOn, number: expiresOn)
        writer.put(.extendedExpiresOn, number: extendedExpiresOn)
        writer.put(.refreshOn, number: refreshOn)
        writer.put(.version, number: Int64(version.rawValue))
        writer.put(.unknownFields, unknownFields)
    }

    package var packedLength: Int { 1024 + secret.count + scopes.target.utf8.count + (unknownFields?.utf8.count ?? 0) }
}

extension RefreshTokenRecord {
    package init?(_ reader: inout FieldReader) {
        guard let account = AccountKey(&reader), let environment = reader.sharedText(.environment),
            let clientID = reader.bytes(.clientID).flatMap(reader.texts.clientID)
        else { return nil }
        let familyID = reader.sharedText(.familyID).flatMap(FamilyID.init)
        guard let secret = reader.token(.secret), secret.isUnread || !secret.isEmpty else { return nil }
        let (obtainedOn, unknownFields) = (reader.number(.obtainedOn), reader.text(.unknownFields))
        var replaced: [String] = []
        while let fingerprint = reader.text(.replaced) { replaced.append(fingerprint) }
        let kind = reader.number(.boundKind).map { Int32(truncatingIfNeeded: $0) }
        let stored = StoredBinding(
            kind: kind, issuer: reader.sharedText(.boundIssuer), endpoint: reader.sharedText(.tokenEndpoint))
        let (realm, target) = (reader.sharedText(.restrictionRealm), reader.bytes(.restrictionTarget))
        let scopes = target.map(reader.texts.scopes) ?? ScopeSet([])
        // A restriction without a realm and a resource restricts nothing.
        let isRestricted = realm?.isEmpty == false || !scopes.isEmpty
        self.init(
            account: account, environment: environment, clientID: clientID, familyID: familyID, secret: secret,
            restriction: isRestricted ? Restriction(realm: realm ?? "", scopes: scopes) : nil,
            obtainedOn: obtainedOn, unknownFields: unknownFields)
        storedBinding = stored
        self.replaced = replaced.suffix(Self.maximumReplaced)
    }

    package func pack(into writer: inout FieldWriter) {
        account.pack(into: &writer)
        writer.put(.environment, environment)
        writer.put(.clientID, clientID.text)
        writer.put(.familyID, familyID?.text)
        writer.put(.secret, token: secret)
        writer.put(.obtainedOn, number: obtainedOn)
        writer.put(.unknownFields, unknownFields)
        for fingerprint in replaced { writer.put(.replaced, fingerprint) }
        let stored = storedBinding
        writer.put(.boundKind, number: stored.map { Int64($0.kind) })
        writer.put(.boundIssuer, stored?.issuer)
        writer.put(.tokenEndpoint, stored?.endpoint)
        writer.put(.restrictionRealm, restriction?.realm)
        writer.put(.restrictionTarget, restriction?.scopes.target)
    }

    package var packedLength: Int { 1024 + secret.count + (unknownFields?.utf8.count ?? 0) }
}

extension IDTokenRecord {
    package init?(_ reader: inout FieldReader) {
        guard let account = AccountKey(&reader), let environment = reader.sharedText(.environment),
            let realm = reader.sharedText(.realm),
            let clientID = reader.bytes(.clientID).flatMap(reader.texts.clientID),
            let idToken = reader.tokenText(.secret), let version = OAuthVersion(packed: reader.number(.version))
        else { return nil }
        let unknownFields = reader.text(.unknownFields)
        // The claims were read when the token was saved.
        guard let tenant = reader.sharedText(.tenant) else { return nil }
        self.init(
            account: account, environment: environment, clientID: clientID, realm: realm, version: version,
            idToken: idToken, tenant: tenant, subject: reader.text(.subject), unknownFields: unknownFields)
    }

    package func pack(into writer: inout FieldWriter) {
        account.pack(into: &writer)
        writer.put(.environment, environment)
        writer.put(.realm, realm)
        writer.put(.clientID, clientID.text)
        writer.put(.secret, tokenText: idToken)
        writer.put(.version, number: Int64(version.rawValue))
        writer.put(.unknownFields, unknownFields)
        writer.put(.tenant, tenant)
        writer.put(.subject, subject)
    }

    package var packedLength: Int { 1024 + idToken.utf8.count + (unknownFields?.utf8.count ?? 0) }
}

extension AppMetadataRecord {
    package init?(_ reader: inout FieldReader) {
        guard let environment = reader.sharedText(.environment), let clientID = reader.sharedText(.clientID),
            let familyID = reader.sharedText(.familyID)
        else { return nil }
        self.init(
            clientID: clientID, environment: environment, familyID: familyID, unknownFields: reader.text(.unknownFields)
        )
    }

    package func pack(into writer: inout FieldWriter) {
        writer.put(.environment, environment)
        writer.put(.clientID, clientID)
        writer.put(.familyID, familyID)
        writer.put(.unknownFields, unknownFields)
    }
}

extension AccountMetadataRecord {
    package init?(_ reader: inout FieldReader) {
        homeAccountID = reader.sharedText(.homeAccountID)
        username = reader.text(.username)
        issuer = reader.sharedText(.issuer)
        guard let clientID = reader.sharedText(.clientID),
            let state = reader.sharedText(.signInState).flatMap(SignInState.init)
        else { return nil }
        self.clientID = clientID
        signInState = state
        authorityMap = [:]
        while let requested = reader.text(.authorityMap) {
            guard let issued = reader.text(.authorityMap) else { return nil }
            authorityMap[requested] = issued
        }
    }

    package func pack(into writer: inout FieldWriter) {
        writer.put(.homeAccountID, homeAccountID)
        writer.put(.username, username)
        writer.put(.issuer, issuer)
        writer.put(.clientID, clientID)
        writer.put(.signInState, signInState.rawValue)
        for (requested, issued) in authorityMap {
            writer.put(.authorityMap, requested)
            writer.put(.authorityMap, issued)
        }
    }
}

extension CurrentAccountRecord {
    package init?(_ reader: inout FieldReader) {
        homeAccountID = reader.sharedText(.homeAccountID)
        username = reader.text(.username)
        guard let environment = reader.sharedText(.environment), let clientID = reader.sharedText(.clientID) else {
            return nil
        }
        self.environment = environment
        self.clientID = clientID
    }

    package func pack(into writer: inout FieldWriter) {
        writer.put(.homeAccountID, homeAccountID)
        writer.put(.username, username)
        writer.put(.environment, environment)
        writer.put(.clientID, clientID)
    }
}

extension OpaqueRecord {
    package init?(_ reader: inout FieldReader) {
        let homeAccountID = reader.sharedText(.homeAccountID)
        let clientID = reader.sharedText(.clientID)
        let name = reader.text(.name)
        guard let section = reader.sharedText(.section), let json = reader.text(.json) else { return nil }
        self.init(section: section, name: name, json: json, homeAccountID: homeAccountID, clientID: clientID)
    }

    package func pack(into writer: inout FieldWriter) {
        writer.put(.homeAccountID, homeAccountID)
        writer.put(.clientID, clientID)
        writer.put(.name, name)
        writer.put(.section, section)
        writer.put(.json, json)
    }

    package var packedLength: Int { 1024 + json.utf8.count }
}

extension OAuthVersion {
    fileprivate init?(packed number: Int64?) {
        guard let number else { return nil }
        self.init(rawValue: Int32(truncatingIfNeeded: number))
    }
}
