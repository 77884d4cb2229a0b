/// A way of asking the token endpoint for tokens.
package enum Grant: String, Codable, Sendable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"
    /// RFC 7522, and its older kin for SAML 1.1.
    case saml11Bearer = "saml1_1-bearer"
    case saml2Bearer = "saml2-bearer"

    /// From `grant_type`; v2 names the device code by its URN (RFC 8628 section 3.4), and assertions have no other name.
    init?(parameter: String) {
        let urn = "urn:ietf:params:oauth:grant-type:"
        self.init(rawValue: parameter.hasPrefix(urn) ? String(parameter.dropFirst(urn.count)) : parameter)
    }
}
