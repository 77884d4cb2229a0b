internal import TokenCache
internal import TokenModel

/// The identity providers of a cache's accounts, by its account entries: credentials do not name them.
///
/// MSAL's libraries give Entra's authority type to accounts of other providers too: of B2C and External ID, in some versions of AD FS,
/// and of any OpenID provider that an app names. So an account is Entra's only at a host that is known as Entra's. An account of that
/// type at any other host has no known provider: neither its kind nor its path is in the file.
struct UnifiedIssuers {
    private struct Place: Hashable {
        let home: String
        let environment: String
    }

    /// The provider of an entry.
    enum Provider: Hashable {
        case known(Issuer)
        /// The file does not name the provider.
        case unknown
        /// The account is one of several providers.
        case several
    }

    private let clouds: CloudDirectory
    private var providers: [Place: Set<Provider>] = [:]

    init(_ clouds: CloudDirectory) { self.clouds = clouds }

    /// Adds an entry of the section of accounts. One whose realm cannot be saved is ignored, since an export would not have it.
    mutating func add(_ item: UnifiedItem) {
        guard let home = item.text(.homeAccountID)?.lowercased(),
            let environment = item.text(.environment)?.lowercased(),
            !CloudDirectory.isBuiltIn(environment), ValueLimits.isIdentifier(Self.realm(of: item))
        else { return }
        providers[Place(home: home, environment: environment), default: []]
            .insert(provider(of: item, at: environment))
    }

    /// The provider of an account entry.
    func provider(of item: UnifiedItem, at environment: String) -> Provider {
        if let issuer = item.agentIssuer(at: environment) { return .known(issuer) }
        let (type, realm) = (self.type(of: item, at: environment), Self.realm(of: item))
        switch type {
        case AccountRecord.entraType: guard clouds.trustsEntraType(at: environment) else { return .unknown }
        case AccountRecord.adfsType: break
        default: guard Self.isPath(realm, at: environment) else { return .unknown }
        }
        return .known(AccountRecord.issuer(environment: environment, realm: realm, authorityType: type))
    }

    /// Whether a realm is the path of an OpenID provider, as an authority has it. With an empty segment it would be taken for the path of a
    /// custom domain.
    private static func isPath(_ realm: String, at environment: String) -> Bool {
        (try? Authority("https://\(environment)/\(realm)", kind: .openID))?.realm == realm
    }

    /// The authority type of an account entry. MSAL for .NET gives Entra's to accounts of AD FS, without a realm.
    func type(of item: UnifiedItem, at environment: String) -> String {
        let type = AccountRecord.authorityType(item.text(.authorityType))
        guard type == AccountRecord.entraType, !clouds.trustsEntraType(at: environment),
            item.agentIssuer(at: environment) == nil
        else {
            return type
        }
        return Self.realm(of: item) == Self.adfsRealm ? AccountRecord.adfsType : type
    }

    /// The provider of an account's credential, all in lower case.
    ///
    /// Without an account entry, AD FS is recognised by its realm, since it has no tenants.
    func provider(
        ofCredential item: UnifiedItem, in section: UnifiedSection, of home: String, at environment: String
    ) -> Provider {
        if let issuer = item.agentIssuer(at: environment) { return .known(issuer) }
        // Refresh tokens have no realm, so that its absence says nothing.
        let realm = section == .refreshToken ? item.text(.realm)?.lowercased() : Self.realm(of: item)
        return provider(of: home, at: environment, realm: realm)
    }

    /// The provider of a credential of an account.
    func provider(of home: String, at environment: String, realm: String?) -> Provider {
        guard !CloudDirectory.isBuiltIn(environment) else { return .known(.microsoft) }
        let known = providers[Place(home: home, environment: environment)] ?? []
        if known.count > 1 { return .several }
        if let provider = known.first { return provider }
        // Libraries may omit the realm at Microsoft's hosts as well, which have no AD FS.
        if realm == Self.adfsRealm, !clouds.trustsEntraType(at: environment) {
            return .known(
                AccountRecord.issuer(
                    environment: environment, realm: Self.adfsRealm, authorityType: AccountRecord.adfsType))
        }
        return clouds.trustsEntraType(at: environment) ? .known(Issuer(ofEnvironment: environment)) : .unknown
    }

    /// The realm of an entry. AD FS has no tenants: MSAL for .NET omits the realm, other libraries write `adfs`.
    static func realm(of item: UnifiedItem) -> String { item.text(.realm)?.lowercased() ?? adfsRealm }

    static let adfsRealm = "adfs"
}

extension CloudDirectory {
    /// Whether Entra's authority type at this host means one of Microsoft's providers.
    func trustsEntraType(at environment: String) -> Bool {
        Self.isMicrosofts(environment) || isEntras(environment)
    }
}

extension UnifiedItem {
    /// The issuer that the agent wrote into its own export, if it can be one at this host.
    func agentIssuer(at environment: String) -> Issuer? {
        guard !CloudDirectory.isMicrosofts(environment), let issuer = text(.agentIssuer).map({ Issuer($0) }),
            issuer == Issuer(environment) || issuer.isAtCustomDomain(environment)
        else { return nil }
        return issuer
    }
}
