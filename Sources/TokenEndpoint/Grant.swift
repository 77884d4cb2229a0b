package import TokenModel

/// What is traded for tokens at the token endpoint.
package enum Grant: Sendable {
    /// RFC 6749 section 6.
    case refreshToken(Secret)
    /// RFC 6749 section 4.1.3 with RFC 7636 section 4.5; the redirect URI is the one the code was asked for with.
    case authorizationCode(code: Secret, verifier: Secret, redirectURI: String)
    /// RFC 8628 section 3.4.
    case deviceCode(Secret)
    /// RFC 7522 section 2.1, and its like for SAML 1.1; the XML as it is.
    case assertion(Secret, isSAML2: Bool)
}
