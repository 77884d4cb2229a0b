/// What requests are counted as: by grant at the token endpoint, by endpoint elsewhere.
package enum Counter: String, Codable, Sendable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
    case deviceCode = "device_code"
    case assertion
    /// A request at the token endpoint without a grant that the emulator knows.
    case otherGrant = "other_grant"
    case authorize
    case deviceCodeStart = "devicecode"
    case deviceLogin = "devicelogin"
    case instanceDiscovery = "discovery"
    case openIDConfiguration = "openid_configuration"
    case keys
    case userInfo = "userinfo"
    case logout
    case enrollment
    case webFinger = "webfinger"

    package init(_ grant: Grant) {
        switch grant {
        case .authorizationCode: self = .authorizationCode
        case .refreshToken: self = .refreshToken
        case .deviceCode: self = .deviceCode
        case .saml11Bearer, .saml2Bearer: self = .assertion
        }
    }

    package init(_ endpoint: Endpoint) {
        switch endpoint {
        case .authorize: self = .authorize
        case .token: self = .otherGrant
        case .deviceCode: self = .deviceCodeStart
        case .deviceLogin: self = .deviceLogin
        case .instanceDiscovery: self = .instanceDiscovery
        case .openIDConfiguration: self = .openIDConfiguration
        case .keys: self = .keys
        case .userInfo: self = .userInfo
        case .logout: self = .logout
        case .enrollment: self = .enrollment
        case .webFinger: self = .webFinger
        }
    }
}
