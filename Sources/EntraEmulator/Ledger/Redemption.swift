internal import Foundation

/// A request to redeem a grant, or to begin a device code sign-in, with everything that decides its result.
struct Redemption: Sendable {
    var clientID: String
    var authority: RequestedAuthority
    var version: ProtocolVersion
    var parameters: Parameters
    /// The issuer the request was sent to; see `EmulatorRequest.issuer`.
    var issuer: String
    /// What the request asks for with the parameter `claims`.
    var claims: ClaimsRequest
    private var isInstanceAware: Bool
    var settings: EmulatorSettings
    var now: Date

    init(_ request: EmulatorRequest, settings: EmulatorSettings, directory: Directory, now: Date) throws(OAuthFailure) {
        clientID = try request.parameters.required("client_id")
        authority = request.authority
        version = request.address.version
        parameters = request.parameters
        issuer = request.issuer(settings, directory)
        claims = try ClaimsRequest(request)
        isInstanceAware = request.isInstanceAware
        self.settings = settings
        self.now = now
    }

    /// The issuer that a refresh token for this user is bound to: for an instance-aware app, the user's home cloud.
    func issuer(for user: User) -> String {
        guard isInstanceAware, authority.kind == .entra, let home = settings.cloud(of: user)?.hosts.first else {
            return issuer
        }
        return "\(home)|"
    }

    /// Whether a refresh token is valid for one resource only.
    var isSingleResource: Bool { authority.kind == .adfs && settings.adfs.level == .windows2012R2 }

    var familyID: String? { settings.familyApps.value(ofApp: clientID) }

    /// Whether an app is the one that has sent the request. Entra compares client IDs regardless of case.
    func isOf(app: String) -> Bool { app.lowercased() == clientID.lowercased() }

    /// What the tokens of a sign-in have of the claims that the app has requested: with the redemption, and for the sign-in itself, which has
    /// satisfied its authentication contexts.
    ///
    /// - Throws: `multiFactorRequired` if the redemption asks for another authentication context.
    func claims(ofSignIn signIn: ClaimsRequest) throws(OAuthFailure) -> ClaimsRequest {
        try claims.checkContexts(satisfied: signIn.contexts)
        var all = signIn
        if !claims.capabilities.isEmpty { all.capabilities = claims.capabilities }
        return all
    }

    /// The requested scopes; those granted at the sign-in if the request names none.
    ///
    /// - Throws: `severalResources` if the scopes belong to more than one resource, `defaultWithOthers` if one of several is
    ///   `.default`.
    func scopes(default granted: [String]) throws(OAuthFailure) -> [String] {
        let asked = parameters.words("scope")
        guard ScopeRules.resources(of: asked).count < 2 else { throw .severalResources }
        guard !ScopeRules.mixesDefault(asked) else { throw .defaultWithOthers }
        return asked.isEmpty ? granted : asked
    }
}

/// The content of the tokens that a redemption yields, before they are encoded and signed.
struct TokenDescriptor: Sendable {
    var user: User
    var tenantID: String
    var clientID: String
    var scopes: [String]
    var resource: String?
    var nonce: String?
    /// The claims that the access token has because the app has requested them.
    var claims = ClaimsRequest()
    /// The time of the sign-in, if the ID token names it.
    var authenticatedOn: Date?
    /// The refresh token of the reply; nil if the reply has none.
    var refreshToken: String?
    var familyID: String?
    /// The access token's identifier (`uti`), by which two tokens of the same second differ.
    var tokenID: String
    var issuedAt: Date

    /// The time of issue, in seconds since 1970.
    var issuedAtSeconds: Int { Int(issuedAt.timeIntervalSince1970) }
}

/// The token endpoint's rules for scopes.
enum ScopeRules {
    static let graph = "https://graph.microsoft.com"

    /// The scopes of OpenID Connect, which belong to no resource.
    private static let protocolScopes: Set = ["openid", "profile", "email", "offline_access", "address", "phone"]

    /// The resources that scopes belong to: the text before the last slash, or Microsoft Graph if there is none. A scope that is
    /// the client ID of the app names the app as the resource.
    static func resources(of scopes: [String], of clientID: String? = nil) -> Set<String> {
        Set(
            scopes.filter { !protocolScopes.contains($0.lowercased()) }.map { scope in
                scope == clientID ? scope : scope.lastIndex(of: "/").map { String(scope[..<$0]) } ?? graph
            })
    }

    /// Whether scopes ask for all permissions of a resource (`.default`) and for single ones, which the services do not combine.
    static func mixesDefault(_ scopes: [String]) -> Bool {
        let ofResources = scopes.filter { !protocolScopes.contains($0.lowercased()) }
        return ofResources.count > 1 && ofResources.contains { $0.lowercased().hasSuffix(".default") }
    }

    /// The granted scopes that the reply lists; `offline_access` is not listed.
    static func granted(_ scopes: [String], declined: [String]) -> [String] {
        let refused = Set((declined + ["offline_access"]).map { $0.lowercased() })
        return scopes.filter { !refused.contains($0.lowercased()) }
    }

    /// The permissions that an access token lists, without their resource.
    static func permissions(_ scopes: [String]) -> [String] {
        scopes.map { scope in
            let name = scope.split(separator: "/").last.map(String.init) ?? scope
            return name == ".default" ? "user_impersonation" : name
        }
    }
}
