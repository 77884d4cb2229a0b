internal import CompatSupport
internal import Foundation
internal import TokenModel

/// Checks of the arguments.
extension TokenAcquisition {
    /// Checks the arguments and returns them as the parameters of the agent's requests.
    ///
    /// Throws `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) for an argument that is not valid.
    ///
    /// For equal arguments, the parameters are made once; only the correlation ID differs.
    func parameters() throws(ADAuthenticationError) -> TokenParameters {
        // With AD FS, the check depends on the username too, which the key does not have.
        guard claims == nil, target.authority.authority.kind != .adfs else { return try newParameters() }
        let key = Arguments(
            target: target, sharingGroup: sharingGroup, redirectURI: redirectURI, capabilities: capabilities,
            validatesAuthority: validatesAuthority)
        var parameters = try Self.recent.value(for: key) { () throws(ADAuthenticationError) in try newParameters() }
        parameters.correlationID = correlationID
        return parameters
    }

    /// The values that parameters without claims depend on.
    private struct Arguments: Sendable, Equatable {
        let target: Target
        let sharingGroup: SharingGroup
        let redirectURI: String?
        let capabilities: [String]
        let validatesAuthority: Bool

        /// Equal if the bytes are: canonically equivalent texts may name different apps and resources.
        static func == (left: Self, right: Self) -> Bool {
            left.target == right.target && left.sharingGroup == right.sharingGroup
                && left.redirectURI.hasSameBytes(as: right.redirectURI)
                && left.capabilities.hasSameBytes(as: right.capabilities)
                && left.validatesAuthority == right.validatesAuthority
        }
    }

    private static let recent = RecentValues<Arguments, TokenParameters>()

    private func newParameters() throws(ADAuthenticationError) -> TokenParameters {
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

    /// Returns the additional query parameters as names and values.
    ///
    /// Throws `ERROR_DEVELOPER_INVALID_ARGUMENT` (100) if they are not URL-encoded, or if they contain claims although
    /// `claims` is set.
    func decodedQuery() throws(ADAuthenticationError) -> [String: String] {
        guard let query = FormEncoding.parameters(of: queryParameters ?? "") else {
            throw .invalidArgument("extraQueryParameters must be URL-encoded")
        }
        guard claims?.trimmedNonEmpty == nil || query["claims"] == nil else {
            throw .invalidArgument("claims must not be in extraQueryParameters too")
        }
        return query
    }

    /// Checks the username for an AD FS authority, which is validated by the domain of the user principal name.
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
        (try? JSONReader.read(Array(text.utf8)))?.isObject == true
    }
}

/// Decodes the query parameters and the claims that an app passes URL-encoded.
///
/// Not the decoder of OAuth responses, which refuses repeated names: ADAL takes the last value of a name, skips a leading `?`
/// or `&`, and refuses characters that a URL cannot hold.
enum FormEncoding {
    /// Decodes percent-encoding and `+`; returns nil if the text holds characters that have to be encoded in a URL (RFC
    /// 3986 section 3.4).
    static func decode(_ text: some StringProtocol) -> String? {
        guard text.unicodeScalars.allSatisfy({ $0 == "%" || CharacterSet.urlQueryAllowed.contains($0) }) else {
            return nil
        }
        return text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }

    /// Decodes `a=b&c=d`, with or without a leading `?` or `&`; the last value of a name counts.
    static func parameters(of query: String) -> [String: String]? {
        let query = query.trimmedNonEmpty ?? ""
        var parameters: [String: String] = [:]
        for pair in query.drop(while: { $0 == "?" || $0 == "&" }).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0]), let value = decode(parts.count > 1 ? parts[1] : "") else { return nil }
            if !name.isEmpty { parameters[name] = value }
        }
        return parameters
    }
}
