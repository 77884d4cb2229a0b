internal import Foundation

extension Ledger {
    /// Keeps a finished sign-in and returns the code for the redirect.
    mutating func issue(_ code: AuthorizationCode) -> String {
        let secret = "1." + nextSecret("code")
        codes[secret] = code
        return secret
    }

    /// RFC 6749 section 4.1.3: a code works once, for the app, address and challenge it was made for.
    mutating func redeemCode(_ redemption: Redemption) throws(OAuthFailure) -> TokenOrder {
        let secret = try redemption.parameters.required("code")
        guard let code = codes[secret] else { throw .malformedGrant }
        guard !code.isRedeemed else { throw .codeAlreadyRedeemed }
        guard code.clientID == redemption.clientID else { throw .wrongClient }
        guard code.issuer == redemption.issuer else { throw .wrongIssuer }
        guard code.redirectURI == redemption.parameters["redirect_uri"] ?? code.redirectURI else {
            throw .wrongRedirectURI
        }
        guard code.pkce.accepts(verifier: redemption.parameters["code_verifier"]) else { throw .wrongVerifier }
        guard redemption.now < code.expiresOn else { throw .expiredGrant }
        let scopes = try redemption.scopes(default: code.scopes)
        codes[secret]?.isRedeemed = true
        return order(
            for: code.user, tenantID: code.tenantID, scopes: scopes,
            resource: redemption.parameters["resource"] ?? code.resource, nonce: code.nonce, redemption: redemption)
    }

    /// The tokens of a fresh sign-in, and the refresh token that goes with them.
    mutating func order(
        for user: User, tenantID: String, scopes: [String], resource: String?, nonce: String?, redemption: Redemption
    ) -> TokenOrder {
        let isOffline =
            redemption.version == .v1 || redemption.authority.kind == .adfs || scopes.contains("offline_access")
        let refreshToken = isOffline ? issueRefreshToken(user, scopes, resource, redemption) : nil
        return TokenOrder(
            user: user, tenantID: tenantID, clientID: redemption.clientID, scopes: scopes, resource: resource,
            nonce: nonce, refreshToken: refreshToken, familyID: redemption.familyID, tokenID: nextTokenID(for: user),
            issuedAt: redemption.now)
    }
}
