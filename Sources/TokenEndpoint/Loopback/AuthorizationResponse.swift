package import TokenModel

/// What the browser came back with (RFC 6749 section 4.1.2).
package struct AuthorizationResponse: Sendable {
    /// Redeems once, with the verifier that belongs to it.
    package let code: Secret
    /// The host of the cloud to redeem it in, where that is not the one asked (`cloud_instance_host_name`). Whether it is a
    /// cloud's is not checked: anybody may have written it.
    package let cloudName: String?

    /// Reads the URL that the browser was sent to; the answer may be in its query or in its fragment.
    ///
    /// - Throws: `invalidState` when the answer is not to this request; `accessDenied` when the user said no;
    ///   `interactionRequired` when no sign-in was possible without asking; `authorizationFailed` for the other errors;
    ///   `serverInvalidResponse` when there is neither an error nor a code.
    package init(url: String, expectedState: String) throws(TokenError) {
        guard let parameters = Self.parameters(of: url) else {
            throw TokenError(.serverInvalidResponse, "the authorization endpoint's answer cannot be read")
        }
        guard let state = parameters["state"], Secret(state) == Secret(expectedState) else {
            throw TokenError(.invalidState, "the authorization endpoint's answer is not to this sign-in")
        }
        if let error = OAuthError(parameters) { throw error.authorizationError() }
        guard let code = parameters["code"]?.trimmedNonEmpty else {
            throw TokenError(.serverInvalidResponse, "the authorization endpoint answered without a code")
        }
        self.code = Secret(code)
        self.cloudName = parameters["cloud_instance_host_name"]?.trimmedNonEmpty
    }

    private static func parameters(of url: String) -> FormParameters? {
        let parts = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        let inQuery = FormParameters(decoding: query ?? "")
        guard let inQuery, inQuery["state"] == nil, parts.count > 1 else { return inQuery }
        return FormParameters(decoding: parts[1])
    }
}
