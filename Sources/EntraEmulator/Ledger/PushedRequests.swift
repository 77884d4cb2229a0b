internal import Foundation

/// The parameters of an authorization request that an app has pushed (RFC 9126).
struct PushedRequest: Sendable {
    var clientID: String
    var authority: RequestedAuthority
    var parameters: Parameters
    var expiresOn: Date
    /// Whether several users could sign in: the request that refers to this one names the user.
    var isWithoutUser = false
}

extension Ledger {
    /// Keeps a pushed request.
    ///
    /// - Returns: the `request_uri`.
    mutating func issue(_ request: PushedRequest) -> String {
        let reference = "urn:ietf:params:oauth:request_uri:" + nextSecret("pushed request")
        pushedRequests.issue(request, as: reference)
        return reference
    }

    /// The parameters of a request: those that it refers to, which stay, or else its own.
    func knownParameters(of request: EmulatorRequest) -> Parameters {
        request.parameters["request_uri"].flatMap { pushedRequests[$0]?.parameters } ?? request.parameters
    }

    /// The parameters of an authorization request: its own, or those that it refers to (RFC 9126 section 4). A reference works
    /// once, within its lifetime, for the app and the authority that have pushed the request.
    mutating func authorizationParameters(
        of request: EmulatorRequest, _ rule: EmulatorSettings.PushedRequests, now: Date
    ) throws(OAuthFailure) -> Parameters {
        guard let reference = request.parameters["request_uri"] else {
            guard rule != .required else { throw .pushedRequestRequired }
            return request.parameters
        }
        guard let pushed = pushedRequests.remove(reference), now < pushed.expiresOn,
            pushed.clientID == request.parameters["client_id"], pushed.authority == request.authority
        else { throw .unknownPushedRequest }
        var parameters = pushed.parameters
        if pushed.isWithoutUser { parameters["login_hint"] = request.parameters["login_hint"] }
        return parameters
    }
}
