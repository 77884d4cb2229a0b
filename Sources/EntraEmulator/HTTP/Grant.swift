/// A way of asking the token endpoint for tokens.
package enum Grant: String, Codable, Sendable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"

    /// From `grant_type`; v2 names the device code by its URN (RFC 8628 section 3.4).
    init?(parameter: String) {
        let urn = "urn:ietf:params:oauth:grant-type:"
        self.init(rawValue: parameter.hasPrefix(urn) ? String(parameter.dropFirst(urn.count)) : parameter)
    }
}
