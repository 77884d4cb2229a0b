package import TokenModel

/// The key of an account in the cache: its home account ID, or its username if an older ADAL knew nothing better.
package enum AccountKey: Sendable, Hashable {
    case home(HomeAccountID)
    /// The username in lower case; empty for AD FS sign-ins without a user.
    case name(String)

    package init(homeAccountID: HomeAccountID?, username: String?) {
        self = homeAccountID.map(AccountKey.home) ?? .name(username?.lowercased() ?? "")
    }

    package var homeAccountID: HomeAccountID? {
        if case .home(let identifier) = self { identifier } else { nil }
    }

    /// The username, for an account that is known by nothing else.
    package var name: String? {
        if case .name(let name) = self { name } else { nil }
    }

    /// The first part of the keys of the account's records.
    package var key: String {
        switch self {
        case .home(let identifier): identifier.text
        case .name(let name): "\(Self.namePrefix)\(name)"
        }
    }

    /// Whether the identifier looks like a username's key, so that its records would replace those of the username.
    var looksLikeName: Bool { homeAccountID?.text.hasPrefix(Self.namePrefix) ?? false }

    private static let namePrefix = "name:"

    /// Whether this is a personal Microsoft account; all of them are in one tenant.
    package var isPersonal: Bool { homeAccountID?.tenantID == "9188040d-6c67-4c5b-b112-36a304b66dad" }

    /// The account of tokens that an AD FS issued without naming a user.
    static let unnamed = AccountKey.name("")

    /// Returns the key with its identifier or username replaced.
    func map(_ body: IdentifierTransform) throws(LimitViolation) -> AccountKey {
        switch self {
        case .home(let identifier):
            let text = try body("home account ID", identifier.text)
            return text == identifier.text ? self : AccountKey(homeAccountID: HomeAccountID(text), username: nil)
        case .name(let name): return .name(try body("name", name))
        }
    }
}

extension Authority {
    /// The realm under which an account's tokens are saved.
    ///
    /// B2C's tokens need not name the tenant that issued them, and an authority may name it by a domain: the account's home
    /// tenant is used instead. ADAL treats `organizations` as `common`.
    package func realm(for account: AccountKey, _ version: OAuthVersion) -> String {
        if kind == .b2c, let tenant = account.homeAccountID?.tenantID { return tenant }
        let realm = realm.lowercased()
        return version == .v1 && realm == "organizations" ? "common" : realm
    }

    /// Whether the account can belong to this authority. B2C makes an account of its own for each policy, whose object ID ends
    /// in the policy's name; tokens of one policy are of no use to another.
    package func admits(_ account: AccountKey) -> Bool {
        guard kind == .b2c, let policy = policy?.lowercased(), let objectID = account.homeAccountID?.objectID,
            objectID.utf8.count > Self.guidLength
        else { return true }
        return objectID.hasSuffix("-\(policy)")
    }

    private static let guidLength = 36
}

extension ClientID {
    /// Returns the client ID with its text replaced.
    func map(_ body: IdentifierTransform) throws(LimitViolation) -> ClientID {
        let text = try body("client ID", text)
        return text == self.text ? self : ClientID(text) ?? self
    }
}
