internal import Foundation

extension Ledger {
    mutating func issueRefreshToken(
        _ user: User, _ scopes: [String], _ resource: String?, _ redemption: Redemption
    ) -> String {
        let secret = "1.A" + nextSecret("refresh token")
        refreshTokens[secret] = RefreshToken(
            user: user, clientID: redemption.clientID, familyID: redemption.familyID,
            issuer: redemption.issuer(for: user),
            scopes: scopes, resource: resource,
            expiresOn: redemption.now + TimeInterval(redemption.settings.refreshTokenLifetime))
        return secret
    }

    /// RFC 6749 section 6. A refresh token is bound to its user, to its issuer, and to its app or the family of its app;
    /// neither to a resource, except at an old AD FS, nor to a tenant.
    mutating func redeemRefreshToken(_ redemption: Redemption) throws(OAuthFailure) -> TokenOrder {
        let secret = try redemption.parameters.required("refresh_token")
        let token = try usableToken(secret, redemption)
        let user = addUser(token.user.username)
        guard !user.isDisabled else { throw .disabledUser }
        let tenantID = try tenantID(of: user, at: redemption.authority.realm)
        let scopes = try redemption.scopes(default: token.scopes)
        let resource = redemption.parameters["resource"] ?? token.resource
        guard !redemption.isSingleResource || resource == token.resource else { throw .wrongResource }
        var replacement: String?
        if redemption.settings.rotation != .none {
            replacement = issueRefreshToken(user, token.scopes, token.resource, redemption)
            refreshTokens[secret]?.isReplaced = redemption.settings.rotation == .strict
        }
        return TokenOrder(
            user: user, tenantID: tenantID, clientID: redemption.clientID, scopes: scopes, resource: resource,
            refreshToken: replacement, familyID: redemption.familyID, tokenID: nextTokenID(for: user),
            issuedAt: redemption.now)
    }

    private func usableToken(_ secret: String, _ redemption: Redemption) throws(OAuthFailure) -> RefreshToken {
        guard let token = refreshTokens[secret] else { throw .malformedGrant }
        guard token.issuer == redemption.issuer else { throw .wrongIssuer }
        guard !token.isRevoked else { throw .revokedToken }
        guard !token.isReplaced else { throw .reusedToken }
        guard redemption.now < token.expiresOn else { throw .expiredGrant }
        if token.clientID != redemption.clientID {
            guard let familyID = token.familyID else { throw .wrongClient }
            guard familyID == redemption.familyID else { throw .notInFamily }
        }
        return token
    }
}
