internal import Foundation
internal import NIOHTTP1

/// `POST …/par`: keeps the parameters of an authorization request, and answers with a reference to them (RFC 9126).
struct PushedRequestRoute: Sendable {
    let state: EmulatorState

    func respond(to request: EmulatorRequest) throws -> Response {
        guard request.method == .POST else { throw OAuthFailure.notPosted }
        let clientID = try request.parameters.required("client_id")
        guard request.parameters["request_uri"] == nil else { throw OAuthFailure.nestedRequest }
        let now = state.now
        let reference = try state.update { (contents) throws(OAuthFailure) in
            switch contents.settings.pushedRequests {
            case .unsupported: throw .pushedRequestsUnsupported
            case .confidentialOnly: throw .secretRequired
            case .offered, .required: break
            }
            // Section 2.1: as a request to the authorization endpoint would be.
            let redirectURI = try request.parameters.required("redirect_uri")
            if let refusal = contents.settings.refusal(of: redirectURI, for: clientID) { throw refusal }
            _ = try request.checkAuthorization()
            return contents.ledger.issue(
                PushedRequest(
                    clientID: clientID, authority: request.authority, parameters: request.parameters,
                    expiresOn: now + Self.lifetime))
        }
        return try .json(
            ["request_uri": .string(reference), "expires_in": .number(Int(Self.lifetime))] as JSON, status: .created)
    }

    private static let lifetime: TimeInterval = 60
}
