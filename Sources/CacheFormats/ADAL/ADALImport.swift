internal import TokenCache
internal import TokenModel

extension ForeignCache {
    /// Reads the JSON list of ADAL for Python and Node.
    mutating func readADAL(_ file: ForeignFile, timeZone: LocalTimeZone) throws(TokenError) {
        var reader = file.jsonReader(isLast: true)
        guard reader.kind() == UInt8(ascii: "[") else {
            _ = try reader.value()
            throw TokenError(
                .cacheBadFormat,
                "not a token cache of ADAL: it is no JSON list; for the JSON object of MSAL use the format msal-json")
        }
        try reader.eachElement { reader throws(TokenError) in
            guard let item = try reader.value(limit: ValueLimits.unknownFields) else {
                return skip("token", Self.tooLong)
            }
            read(Self.entry(item, timeZone: timeZone))
        }
        try reader.finish()
    }

    private static func entry(_ item: JSONTree, timeZone: LocalTimeZone) -> ADALEntry {
        var entry = ADALEntry()
        entry.authority = item["_authority"]?.string
        entry.resource = item["resource"]?.string
        entry.clientID = item["_clientId"]?.string
        entry.accessToken = item["accessToken"]?.string
        entry.tokenType = item["tokenType"]?.string
        entry.refreshToken = item["refreshToken"]?.string
        entry.expiresOn = ADALTime.seconds(item["expiresOn"], timeZone: timeZone)
        let lifetime = item["expiresIn"]?.integer.flatMap { 0...ADALTime.longest ~= $0 ? $0 : nil }
        entry.obtainedOn =
            ADALTime.seconds(item["createdOn"], timeZone: timeZone)
            ?? lifetime.flatMap { lifetime in entry.expiresOn.map { $0 - lifetime } }
        // An absent value is false: AD FS answers without a resource, and the token then serves one resource only.
        entry.isMultiResource = item["isMRRT"]?.boolean ?? false
        entry.userID = item["userId"]?.string
        entry.tenantID = item["tenantId"]?.string
        entry.objectID = item["oid"]?.string
        entry.givenName = item["givenName"]?.string
        entry.familyName = item["familyName"]?.string
        return entry
    }

    /// Reads entries of an ADAL cache. Each may hold several tokens.
    mutating func read(_ entries: [ADALEntry]) {
        for entry in entries { read(entry) }
    }

    private mutating func read(_ entry: ADALEntry) {
        let title = Self.title("token", entry.userID, entry.clientID, entry.resource)
        guard !entry.isTombstone else { return skip(title, "a tombstone: its refresh token was rejected") }
        guard entry.accessToken?.trimmedNonEmpty != nil || entry.refreshToken?.trimmedNonEmpty != nil else {
            return skip(title, "it holds no token")
        }
        let hasNoUser = entry.userID == nil && entry.idToken == nil && entry.homeAccountID == nil
        guard !hasNoUser || entry.refreshToken?.trimmedNonEmpty != nil else {
            return skip(title, "an app's own token, of no account")
        }
        guard let clientID = entry.clientID.flatMap(ClientID.init) else { return skip(title, "it names no app") }
        guard let text = entry.authority, let authority = try? Authority(text) else {
            return skip(title, "its authority is not valid")
        }
        // ADAL calls every authority Entra's that is not an AD FS, and signs in at no other.
        guard authority.kind == .adfs || authority.kind == .entra && clouds.isEntras(authority.environment) else {
            return skip(title, "\(Self.unknownHost(authority.environment)); sign in there instead")
        }
        guard entry.resource?.trimmedNonEmpty?.contains(where: \.isWhitespace) != true else {
            return skip(title, "its resource is not valid: it has white space in it")
        }
        add(ADALRecords(entry, clientID, authority, clouds))
    }

    /// The reason why an entry's access token cannot be used; nil if it can.
    private func flaw(_ entry: ADALEntry) -> String? {
        if entry.isManaged { return "only the app that the device's management gave it to may use it" }
        guard entry.resource?.trimmedNonEmpty != nil, let expiresOn = entry.expiresOn else {
            return "it does not say what it is for, or when it expires"
        }
        return expiresOn > now ? nil : "it has expired"
    }

    private mutating func add(_ records: ADALRecords) {
        let entry = records.entry
        func title(_ kind: String) -> String { Self.title(kind, records.username, entry.clientID, entry.resource) }
        note(
            obtained: entry.obtainedOn, records.account, records.clientID, records.authority.environment,
            records.directoryUser)
        var accessToken = records.accessToken
        if entry.accessToken?.trimmedNonEmpty != nil, let flaw = flaw(entry) {
            skip(title("access token"), flaw)
            accessToken = nil
        }
        // An account without tokens is not imported.
        guard accessToken != nil || records.refreshToken != nil else { return }
        add(
            .account(records.accountRecord), title("account"), user: records.directoryUser,
            knowsTenant: records.knowsTenant)
        if let app = records.appMetadata { add(.appMetadata(app), title("app metadata")) }
        if let token = records.refreshToken {
            add(.refreshToken(token), title("refresh token"), user: records.directoryUser)
        }
        guard let accessToken else { return }
        if let token = records.idToken { add(.idToken(token), title("ID token"), user: records.directoryUser) }
        add(.accessToken(accessToken), title("access token"), user: records.directoryUser)
    }
}
