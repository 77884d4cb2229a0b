package import TokenModel

/// The key of an account in the cache: its identity provider, and what identifies the user there.
///
/// No provider can name an account of another one: whatever identifiers and usernames its responses contain, they belong to its own
/// accounts.
package struct AccountKey: Sendable, Hashable {
    /// What identifies a user: the home account ID, or the username if an older ADAL knew nothing better.
    package enum Identity: Sendable, Hashable {
        case home(HomeAccountID)
        /// The username in lower case; empty for AD FS sign-ins without a user.
        case name(String)

        package init(homeAccountID: HomeAccountID?, username: String?) {
            self = homeAccountID.map(Identity.home) ?? .name(username?.lowercased() ?? "")
        }

        /// Equal if the bytes are, as on the disk.
        package static func == (left: Identity, right: Identity) -> Bool {
            switch (left, right) {
            case (.home(let left), .home(let right)): left == right
            case (.name(let left), .name(let right)): left.hasSameBytes(as: right)
            default: false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .home(let identifier): identifier.hash(into: &hasher)
            case .name(let name): name.hashBytes(into: &hasher)
            }
        }
    }

    package var issuer: Issuer
    package var identity: Identity

    package init(issuer: Issuer, identity: Identity) {
        self.issuer = issuer
        self.identity = identity
    }

    package init(issuer: Issuer, homeAccountID: HomeAccountID?, username: String?) {
        self.init(issuer: issuer, identity: Identity(homeAccountID: homeAccountID, username: username))
    }

    package var homeAccountID: HomeAccountID? {
        if case .home(let identifier) = identity { identifier } else { nil }
    }

    /// The username, for an account that is known by nothing else.
    package var name: String? {
        if case .name(let name) = identity { name } else { nil }
    }

    /// The account of the same issuer with this identifier.
    package func with(_ identifier: HomeAccountID) -> AccountKey {
        AccountKey(issuer: issuer, identity: .home(identifier))
    }

    /// The first part of the keys of the account's records.
    package var key: String {
        let key =
            switch identity {
            case .home(let identifier): identifier.text
            case .name(let name): "\(Self.namePrefix)\(name)"
            }
        return issuer == .microsoft ? key : "\(Self.issuerPrefix)\(issuer.keyText) \(key)"
    }

    /// Whether the identifier looks like the key of a username, or of another issuer's account, so that its records would replace
    /// those of that account.
    var imitatesAnotherKey: Bool {
        guard let text = homeAccountID?.text else { return false }
        return text.hasPrefix(Self.namePrefix) || text.hasPrefix(Self.issuerPrefix)
    }

    private static let namePrefix = "name:"
    private static let issuerPrefix = "@"

    /// Whether this is a personal Microsoft account; all of them are in one tenant.
    package var isPersonal: Bool { homeAccountID?.isPersonal ?? false }

    /// Whether this is the account of tokens that an AD FS issued without naming a user. It is not listed, and not counted.
    package var isUnnamed: Bool { name == "" }

    /// Returns the key with its identifier or username replaced.
    func map(_ body: IdentifierTransform) throws(LimitViolation) -> AccountKey {
        switch identity {
        case .home(let identifier):
            let text = try body("home account ID", identifier.text)
            guard text != identifier.text else { return self }
            return AccountKey(issuer: issuer, homeAccountID: HomeAccountID(text), username: nil)
        case .name(let name): return AccountKey(issuer: issuer, identity: .name(try body("name", name)))
        }
    }
}

extension Authority {
    /// The realm under which an account's tokens are saved.
    ///
    /// At B2C it is the account's home tenant: tokens need not name the tenant that issued them, and an authority may name it by a domain. So
    /// it is for External ID at a domain of the organisation, whose results name the authority of the request. ADAL treats `organizations`
    /// as `common`.
    package func realm(for account: AccountKey, _ version: OAuthVersion) -> String {
        if kind == .b2c || isAtCustomDomain, let tenant = account.homeAccountID?.tenantID { return tenant }
        let realm = realm.lowercased()
        return version == .v1 && realm == "organizations" ? "common" : realm
    }

    /// Whether the account can belong to this authority.
    package func admits(_ account: AccountKey) -> Bool {
        guard kind == .b2c, let identifier = account.homeAccountID else { return true }
        return admits(identifier)
    }
}

extension ClientID {
    /// Returns the client ID with its text replaced.
    func map(_ body: IdentifierTransform) throws(LimitViolation) -> ClientID {
        let text = try body("client ID", text)
        return text == self.text ? self : ClientID(text) ?? self
    }
}

extension HomeAccountID {
    /// The identifier of a user by the `sub` claim. Its case matters at an OpenID provider (OpenID Connect Core 1.0 section 2) while that
    /// of identifiers does not: there, a subject that is not its own identifier gets a hash of itself. Nil when it is blank.
    static func ofUser(withSubject subject: String, at kind: Authority.Kind) -> HomeAccountID? {
        guard let folded = HomeAccountID(subject) else { return nil }
        let isOwn = folded.text.hasSameBytes(as: subject) && !subject.utf8.contains(UInt8(ascii: "#"))
        if kind != .openID || isOwn { return folded }
        return HomeAccountID("\(folded)#\(Fingerprint.of(subject).prefix(32))")
    }
}
