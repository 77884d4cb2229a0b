internal import Foundation

/// What the revocation of a user's tokens does to the refresh tokens.
package enum RefreshTokenRevocation: String, Codable, Sendable {
    /// They are refused with `invalid_grant`, as after a change of the password.
    case revoked
    /// They stay valid: an app gets a new access token without the user, as after a change of a policy.
    case valid
    /// They are refused with `interaction_required`: a policy requires that the user signs in again.
    case interactionRequired = "interaction_required"
}

/// An issued refresh token.
struct RefreshToken: Sendable {
    var user: User
    var clientID: String
    var familyID: String?
    var issuer: String
    /// The scopes of the sign-in, granted to a redemption that names none.
    var scopes: [String]
    var resource: String?
    /// The authentication contexts that the sign-in has satisfied.
    var contexts: [String]
    var expiresOn: Date
    /// Whether the token has been replaced by rotation.
    var isReplaced = false
    var isRevoked = false
    /// Whether the user has to sign in again before an app gets a token.
    var needsSignIn = false

    /// Whether the token is refused for good.
    var isSpent: Bool { isReplaced || isRevoked }
}

extension Ledger {
    /// Issues a refresh token.
    mutating func issueRefreshToken(
        _ user: User, _ scopes: [String], _ resource: String?, _ redemption: Redemption, contexts: [String]
    ) -> String {
        let secret = "1.A" + nextSecret("refresh token", for: [user.username, redemption.clientID])
        let token = RefreshToken(
            user: user, clientID: redemption.clientID, familyID: redemption.familyID,
            issuer: redemption.issuer(for: user),
            scopes: scopes, resource: resource, contexts: contexts,
            expiresOn: redemption.now + TimeInterval(redemption.settings.refreshTokenLifetime))
        refreshTokens.issue(token, as: secret) { $0.isSpent }
        return secret
    }

    /// Redeems a refresh token (RFC 6749 section 6).
    ///
    /// A refresh token is bound to its user, its issuer, and its app or the app's family. It is bound to no tenant, and to a
    /// resource only at AD FS of Windows Server 2012 R2.
    mutating func redeemRefreshToken(_ redemption: Redemption) throws(OAuthFailure) -> TokenDescriptor {
        let secret = try redemption.parameters.required("refresh_token")
        let token = try usableToken(secret, redemption)
        let user = addUser(token.user.username)
        guard !user.isDisabled else { throw .disabledUser }
        let tenantID = try tenantID(of: user, at: redemption.authority.realm)
        let scopes = try redemption.scopes(default: token.scopes)
        let resource = redemption.parameters["resource"] ?? token.resource
        guard !redemption.isSingleResource || resource == token.resource else { throw .wrongResource }
        guard !token.needsSignIn else { throw .multiFactorRequired(claims: nil) }
        try redemption.claims.checkContexts(satisfied: token.contexts)
        var replacement: String?
        if redemption.settings.rotation != .none {
            replacement = issueRefreshToken(
                user, token.scopes, token.resource, redemption, contexts: token.contexts)
            refreshTokens[secret]?.isReplaced = redemption.settings.rotation == .strict
        }
        return TokenDescriptor(
            user: user, tenantID: tenantID, clientID: redemption.clientID, scopes: scopes, resource: resource,
            claims: redemption.claims, refreshToken: replacement, familyID: redemption.familyID,
            tokenID: nextTokenID(for: user), issuedAt: redemption.now)
    }

    /// The refresh token with this secret, if the request may redeem it.
    private func usableToken(_ secret: String, _ redemption: Redemption) throws(OAuthFailure) -> RefreshToken {
        guard let token = refreshTokens[secret] else { throw .malformedGrant }
        guard token.issuer == redemption.issuer else { throw .wrongIssuer }
        guard !token.isRevoked else { throw .revokedToken }
        guard !token.isReplaced else { throw .reusedToken }
        guard redemption.now < token.expiresOn else { throw .expiredGrant }
        if !redemption.isOf(app: token.clientID) {
            guard let familyID = token.familyID else { throw .wrongClient }
            guard familyID == redemption.familyID else { throw .notInFamily }
        }
        return token
    }
}
