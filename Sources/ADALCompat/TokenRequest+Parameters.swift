internal import Foundation
internal import TokenModel

/// The checks of the arguments, and what is left when they pass.
extension TokenRequest {
    /// What the agent is asked for.
    ///
    /// Throws `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) for what cannot work.
    func parameters() throws(ADAuthenticationError) -> TokenParameters {
        guard let clientID = ClientID(target.clientID) else { throw .invalidArgument("clientId must not be blank") }
        guard let resource = target.resource.trimmedNonEmpty else {
            throw .invalidArgument("resource must not be blank")
        }
        try checkName()
        return TokenParameters(
            clientID: clientID, sharingGroup: sharingGroup, authority: target.authority.authority, version: .v1,
            scopes: ScopeSet(resource: resource), redirectURI: redirectURI, claims: try decodedClaims(),
            capabilities: capabilities, validatesAuthority: validatesAuthority, correlationID: correlationID)
    }

    /// The query parameters as names and values.
    ///
    /// Throws `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) when they are not URL-encoded, or repeat the claims.
    func decodedQuery() throws(ADAuthenticationError) -> [String: String] {
        guard let query = FormEncoding.parameters(of: queryParameters ?? "") else {
            throw .invalidArgument("extraQueryParameters must be URL-encoded")
        }
        guard claims?.trimmedNonEmpty == nil || query["claims"] == nil else {
            throw .invalidArgument("claims must not be in extraQueryParameters too")
        }
        return query
    }

    /// An AD FS is validated by the domain in its user's principal name.
    private func checkName() throws(ADAuthenticationError) {
        guard validatesAuthority, target.authority.authority.kind == .adfs else { return }
        let parts = (identifier?.userId ?? "").split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.trimmedNonEmpty != nil }) else {
            throw .invalidArgument("an AD FS can be validated only for a user named by user principal name")
        }
    }

    private func decodedClaims() throws(ADAuthenticationError) -> String? {
        guard let claims = claims?.trimmedNonEmpty else { return nil }
        guard let text = FormEncoding.decode(claims), Self.isJSONObject(text) else {
            throw .invalidArgument("claims must be a JSON object, URL-encoded")
        }
        return text
    }

    private static func isJSONObject(_ text: String) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8))) is [String: Any]
    }
}
