internal import TokenModel

extension ForeignCache {
    /// The JSON list of ADAL for Python and Node.
    mutating func readADAL(_ file: ForeignFile, timeZone: LocalTimeZone) throws(TokenError) {
        var reader = JSONReader(ByteFeed(file, isLast: true))
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
        // Absent is not false: AD FS answers without a resource, and then the token is good for one only.
        entry.isMultiResource = item["isMRRT"]?.boolean ?? false
        entry.userID = item["userId"]?.string
        entry.tenantID = item["tenantId"]?.string
        entry.objectID = item["oid"]?.string
        entry.givenName = item["givenName"]?.string
        entry.familyName = item["familyName"]?.string
        return entry
    }

    /// Entries of an ADAL cache, which each may hold several tokens.
    mutating func read(_ entries: [ADALEntry]) {
        for entry in entries { read(entry) }
    }

    private mutating func read(_ entry: ADALEntry) {
        let title = Self.title("token", entry.userID, entry.clientID, entry.resource)
        guard !entry.isTombstone else { return skip(title, "a tombstone: its refresh token was rejected") }
        guard entry.accessToken?.trimmedNonEmpty != nil || entry.refreshToken?.trimmedNonEmpty != nil else {
            return skip(title, "it holds no token")
        }
        let isNobodys = entry.userID == nil && entry.idToken == nil && entry.homeAccountID == nil
        guard !isNobodys || entry.refreshToken?.trimmedNonEmpty != nil else {
            return skip(title, "an app's own token, of no account")
        }
        guard let clientID = entry.clientID.flatMap(ClientID.init) else { return skip(title, "it names no app") }
        guard let text = entry.authority, let authority = try? Authority(text) else {
            return skip(title, "its authority is not one that tokens can be asked of")
        }
        guard entry.resource?.trimmedNonEmpty?.contains(where: \.isWhitespace) != true else {
            return skip(title, "its resource is not one that tokens can be asked for")
        }
        add(ADALRecords(entry, clientID, authority))
    }

    /// Why an entry's access token is of no use.
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
            obtained: entry.obtainedOn, records.owner, records.clientID, records.authority.environment, records.person)
        var accessToken = records.accessToken
        if entry.accessToken?.trimmedNonEmpty != nil, let flaw = flaw(entry) {
            skip(title("access token"), flaw)
            accessToken = nil
        }
        // An account of which nothing is left is none.
        guard accessToken != nil || records.refreshToken != nil else { return }
        add(
            .account(records.account), title("account"), person: records.person, knowsTenant: records.knowsTenant)
        if let app = records.appMetadata { add(.appMetadata(app), title("app metadata")) }
        if let token = records.refreshToken {
            add(.refreshToken(token), title("refresh token"), person: records.person)
        }
        guard let accessToken else { return }
        if let token = records.idToken { add(.idToken(token), title("ID token"), person: records.person) }
        add(.accessToken(accessToken), title("access token"), person: records.person)
    }
}
