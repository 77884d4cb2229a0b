internal import Foundation

/// One request at the token endpoint, with what the rules need to judge it.
struct Redemption: Sendable {
    var clientID: String
    var authority: RequestedAuthority
    var version: ProtocolVersion
    var parameters: Parameters
    var settings: EmulatorSettings
    var now: Date

    init(_ request: EmulatorRequest, settings: EmulatorSettings, now: Date) throws(OAuthFailure) {
        clientID = try request.parameters.required("client_id")
        authority = request.authority
        version = request.address.version
        parameters = request.parameters
        self.settings = settings
        self.now = now
    }

    var familyID: String? { settings.familyApps[clientID.lowercased()] }

    /// The scopes asked for here, or those of the sign-in.
    func scopes(default granted: [String]) throws(OAuthFailure) -> [String] {
        let asked = parameters.words("scope")
        guard ScopeRules.resources(of: asked).count < 2 else { throw .severalResources }
        return asked.isEmpty ? granted : asked
    }
}
