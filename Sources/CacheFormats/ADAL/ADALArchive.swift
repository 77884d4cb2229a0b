internal import TokenModel

/// An archive of ADAL for Objective-C 1.x to 2.7.18: one item, as in a keychain item, or the whole cache of macOS.
struct ADALArchive {
    private(set) var entries: [ADALEntry] = []
    /// The objects that are not tokens, with the reasons for skipping them.
    private(set) var skipped = SkippedEntries()
    private var archive: KeyedArchive

    /// - Throws: `cacheBadFormat` (-51201) if `bytes` are not an archive of ADAL, or are of a later version.
    init(_ bytes: [UInt8]) throws(TokenError) {
        archive = try KeyedArchive(bytes)
        guard let root = try archive.instance(archive.root) else { throw Self.notAnArchive }
        if root.className.hasSuffix("Dictionary") {
            try readCache(root)
        } else {
            try read(root, user: nil, depth: 0)
        }
    }

    /// Reads the outermost dictionary: a wipe record, or `version` and `tokenCache`.
    private mutating func readCache(_ root: KeyedArchive.Instance) throws(TokenError) {
        let members = try named(root)
        if members["wipeTime"] != nil, members["bundleId"] != nil {
            skipped.add("wipe record", "it only says who last removed tokens")
            return
        }
        if let version = members["version"] {
            let number = try archive.number(version) ?? .infinity
            guard number <= Self.version else {
                throw TokenError(
                    .cacheBadFormat, "this cache is of ADAL's format \(number); up to \(Self.version) is understood")
            }
        }
        guard let cache = members["tokenCache"] else {
            return try read(root, user: nil, depth: 0)
        }
        guard let inner = try archive.instance(cache), inner.className.hasSuffix("Dictionary") else {
            throw TokenError(.cacheBadFormat, "not an ADAL archive: its tokenCache is no dictionary")
        }
        try read(inner, user: nil, depth: 0)
    }

    /// Reads an item, or a collection that contains items at any depth: 1.x nested its dictionaries in another order than 2.x.
    private mutating func read(_ instance: KeyedArchive.Instance, user: String?, depth: Int) throws(TokenError) {
        guard depth <= Self.maximumDepth else { throw Self.notAnArchive }
        if Self.itemClasses.contains(instance.className) {
            entries.append(try entry(instance, user: user))
        } else if let pairs = try archive.pairs(instance) {
            for pair in pairs {
                let key = try archive.text(pair.key)
                let user = key.flatMap { Self.layers.contains($0) ? nil : $0 } ?? user
                try read(pair.value, user: user, depth: depth + 1)
            }
        } else if instance.className.hasSuffix("Array") || instance.className.hasSuffix("Set") {
            for value in try archive.values(instance) { try read(value, user: user, depth: depth + 1) }
        } else {
            skip()
        }
    }

    private mutating func read(_ place: Int, user: String?, depth: Int) throws(TokenError) {
        guard let instance = try archive.instance(place) else { return skip() }
        try read(instance, user: user, depth: depth)
    }

    private mutating func skip() {
        skipped.add("object in the archive", "it is not a token")
    }

    private mutating func named(_ dictionary: KeyedArchive.Instance) throws(TokenError) -> [String: Int] {
        var members: [String: Int] = [:]
        for pair in try archive.pairs(dictionary) ?? [] {
            if let name = try archive.text(pair.key) { members[name] = pair.value }
        }
        return members
    }

    /// Reads an item. Every version of ADAL wrote other members: each may be missing.
    private mutating func entry(_ item: KeyedArchive.Instance, user: String?) throws(TokenError) -> ADALEntry {
        let members = item.members
        var entry = ADALEntry()
        entry.authority = try archive.text(members["authority"])
        entry.resource = try archive.text(members["resource"])
        entry.clientID = try archive.text(members["clientId"])
        entry.familyID = try archive.text(members["familyId"])
        entry.accessToken = try archive.text(members["accessToken"])
        entry.tokenType = try archive.text(members["accessTokenType"])
        entry.refreshToken = try archive.text(members["refreshToken"])
        entry.expiresOn = try archive.time(members["expiresOn"])
        entry.obtainedOn = try archive.time(members["cachedAt"])
        entry.homeAccountID = try archive.text(members["homeAccountId"]).flatMap(HomeAccountID.init)
        if entry.homeAccountID == nil, let clientInfo = try archive.text(members["clientInfo"]) {
            entry.homeAccountID = HomeAccountID.named(in: clientInfo)
        }
        let userInformation = try archive.instance(members["userInformation"])
        entry.idToken = try archive.text(userInformation?.members["rawIdToken"])
        let named = try archive.text(userInformation?.members["userId"])
        entry.userID = user ?? named
        if let server = try archive.instance(members["additionalServer"]) {
            // The first name is that of ADAL 2.7, the second that of earlier versions.
            let named = try self.named(server)
            entry.extendedExpiresOn = try archive.time(named[Self.extendedExpiresOn] ?? named["ext_expires_on"])
        }
        entry.isManaged = try archive.text(members["applicationIdentifier"])?.trimmedNonEmpty != nil
        let hasTombstone = try archive.instance(members["tombstone"]) != nil
        entry.isTombstone = hasTombstone || entry.refreshToken == ADALEntry.tombstone
        return entry
    }

    /// The name of an access token's extended time of expiry among the fields of its response, as ADAL 2.7 writes it.
    static let extendedExpiresOn = "extended_expires_on"
    /// The format version of every ADAL 2.x, the newest.
    static let version = 1.0
    private static let itemClasses: Set = ["ADTokenCacheStoreItem", "ADTokenCacheItem", "MSIDLegacyTokenCacheItem"]
    private static let layers: Set = ["tokenCache", "tokens", "idtokens", "cache", "version"]
    private static let maximumDepth = 8
    private static let notAnArchive = TokenError(
        .cacheBadFormat, "not an ADAL archive: its root is neither an item nor a cache")
}
