internal import Crypto
internal import Foundation

/// An issued authorization code: the sign-in it stands for, until it is redeemed.
struct AuthorizationCode: Sendable {
    var user: User
    var tenantID: String
    var issuer: String
    var clientID: String
    var redirectURI: String
    var pkce: PKCE
    var scopes: [String]
    var resource: String?
    var nonce: String?
    var claims: ClaimsRequest
    /// The time of the sign-in, if the ID token names it.
    var authenticatedOn: Date?
    var expiresOn: Date
    var isRedeemed = false
}

/// The PKCE challenge of an authorization request (RFC 7636).
enum PKCE: Sendable, Equatable {
    case absent
    case plain(String)
    case sha256(String)

    /// - Throws: `malformedChallenge`, or `unsupportedChallengeMethod` (section 4.4.1).
    init(_ parameters: Parameters) throws(OAuthFailure) {
        guard let challenge = parameters["code_challenge"] else {
            self = .absent
            return
        }
        guard Self.isWellFormed(challenge) else { throw .malformedChallenge }
        switch parameters["code_challenge_method"] {
        case "S256": self = .sha256(challenge)
        case nil, "plain": self = .plain(challenge)
        default: throw .unsupportedChallengeMethod
        }
    }

    /// Whether a challenge has 43 to 128 unreserved characters (section 4.2). A SHA-256 with the padding of base64 has another.
    private static func isWellFormed(_ challenge: String) -> Bool {
        (43...128).contains(challenge.utf8.count)
            && challenge.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
    }

    func accepts(verifier: String?) -> Bool {
        switch self {
        case .absent: true
        case .plain(let challenge): verifier == challenge
        case .sha256(let challenge): verifier.map { base64URL(SHA256.hash(data: Data($0.utf8))) } == challenge
        }
    }
}

extension Ledger {
    /// Stores a completed sign-in.
    ///
    /// - Returns: the authorization code.
    mutating func issue(_ code: AuthorizationCode) -> String {
        let secret = "1." + nextSecret("code", for: [code.user.username, code.clientID])
        codes.issue(code, as: secret) { $0.isRedeemed }
        return secret
    }

    /// Redeems an authorization code (RFC 6749 section 4.1.3): once, and only for the app, tenant, redirect URI and PKCE challenge it
    /// was issued for.
    mutating func redeemCode(_ redemption: Redemption) throws(OAuthFailure) -> TokenDescriptor {
        let secret = try redemption.parameters.required("code")
        guard let code = codes[secret] else { throw .malformedGrant }
        guard !code.isRedeemed else { throw .codeAlreadyRedeemed }
        guard redemption.isOf(app: code.clientID) else { throw .wrongClient }
        guard code.issuer == redemption.issuer else { throw .wrongIssuer }
        let tenantID = directory.tenantID(realm: redemption.authority.realm)
        guard tenantID == nil || tenantID == code.tenantID else { throw .wrongTenant }
        guard let redirectURI = redemption.parameters["redirect_uri"] else { throw .missingRedirectURI }
        guard code.redirectURI == redirectURI else {
            // The name of this error is Entra's own.
            throw redemption.authority.kind == .openID ? .otherRedirectURI : .wrongRedirectURI
        }
        guard code.pkce.accepts(verifier: redemption.parameters["code_verifier"]) else { throw .wrongVerifier }
        guard redemption.now < code.expiresOn else { throw .expiredGrant }
        guard !addUser(code.user.username).isDisabled else { throw .disabledUser }
        let scopes = try redemption.scopes(default: code.scopes)
        let claims = try redemption.claims(ofSignIn: code.claims)
        codes[secret]?.isRedeemed = true
        var descriptor = describeTokens(
            for: code.user, tenantID: code.tenantID, scopes: scopes,
            resource: redemption.parameters["resource"] ?? code.resource, nonce: code.nonce, claims: claims,
            redemption: redemption)
        descriptor.authenticatedOn = code.authenticatedOn
        return descriptor
    }

    /// The tokens of a new sign-in, with a refresh token if the request is for offline access.
    mutating func describeTokens(
        for user: User, tenantID: String, scopes: [String], resource: String?, nonce: String?, claims: ClaimsRequest,
        redemption: Redemption
    ) -> TokenDescriptor {
        let isOffline =
            redemption.version == .v1 || redemption.authority.kind == .adfs || scopes.contains("offline_access")
        let refreshToken =
            isOffline ? issueRefreshToken(user, scopes, resource, redemption, contexts: claims.contexts) : nil
        return TokenDescriptor(
            user: user, tenantID: tenantID, clientID: redemption.clientID, scopes: scopes, resource: resource,
            nonce: nonce, claims: claims, refreshToken: refreshToken, familyID: redemption.familyID,
            tokenID: nextTokenID(for: user), issuedAt: redemption.now)
    }
}
