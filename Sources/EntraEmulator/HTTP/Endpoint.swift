/// What a request to the emulator asks for, whatever its path looked like.
package enum Endpoint: String, Codable, Sendable, CaseIterable {
    case authorize
    case token
    case deviceCode = "devicecode"
    case deviceLogin = "devicelogin"
    case instanceDiscovery = "discovery"
    case openIDConfiguration = "openid_configuration"
    case keys
    case userInfo = "userinfo"
    case logout
    /// Device registration discovery, which names a domain's AD FS.
    case enrollment
    case webFinger = "webfinger"
}
