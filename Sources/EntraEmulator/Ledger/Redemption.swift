internal import Foundation

/// One request at the token endpoint, with what the rules need to judge it.
struct Redemption: Sendable {
    var clientID: String
    var authority: RequestedAuthority
    var version: ProtocolVersion
    var parameters: Parameters
    /// Who is asked, as grants are bound to it.
    var issuer: String
    private var isInstanceAware: Bool
    var settings: EmulatorSettings
    var now: Date

    init(
        _ request: EmulatorRequest, settings: EmulatorSettings, directory: Directory, now: Date
    ) throws(OAuthFailure) {
        clientID = try request.parameters.required("client_id")
        authority = request.authority
        version = request.address.version
        parameters = request.parameters
        issuer = request.issuer(settings, directory)
        isInstanceAware = request.isInstanceAware
        self.settings = settings
        self.now = now
    }

    /// Who a refresh token for this user is bound to: the cloud they are at home in, where the app can be sent there.
    func issuer(for user: User) -> String {
        guard isInstanceAware, authority.kind == .entra, let home = settings.cloud(of: user)?.hosts.first else {
            return issuer
        }
        return "\(home)|"
    }

    /// Whether refresh tokens are for one resource only.
    var isSingleResource: Bool { authority.kind == .adfs && settings.adfs.level == .windows2012R2 }

    var familyID: String? { settings.familyApps[clientID.lowercased()] }

    /// The scopes asked for here, or those of the sign-in.
    func scopes(default granted: [String]) throws(OAuthFailure) -> [String] {
        let asked = parameters.words("scope")
        guard ScopeRules.resources(of: asked).count < 2 else { throw .severalResources }
        return asked.isEmpty ? granted : asked
    }
}
