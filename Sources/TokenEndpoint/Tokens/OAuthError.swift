internal import TokenModel

/// An OAuth error response (RFC 6749 sections 4.1.2.1 and 5.2), with Entra's additional fields.
struct OAuthError: Sendable {
    var error: String
    var subError: String?
    var description: String?
    var codes: [Int32]
    /// The user whom an app protection policy concerns. Of a token endpoint's errors, Entra names it in no other one.
    private var username: String?
    private var homeAccountID: HomeAccountID?

    /// Returns nil unless the object has an `error` that is not blank.
    init?(_ object: JSONTree) { self.init(object, hiding: []) }

    /// Returns nil unless the object has an `error` that is not blank.
    ///
    /// - Parameter secrets: the secrets of the request. Apps and terminals get the texts of an error.
    init?(_ object: JSONTree, hiding secrets: [Secret]) {
        func text(_ name: String) -> String? { object.text(name).map { UntrustedText.clean($0.hiding(secrets)) } }
        guard let error = text("error") else { return nil }
        self.error = error
        self.subError = text("suberror")
        self.description = text("error_description")
        self.codes = (object["error_codes"]?.values ?? []).prefix(64).compactMap {
            $0.integer.flatMap(Int32.init(exactly:))
        }
        self.username = text("adi")
        self.homeAccountID = object.text("client_info").flatMap(HomeAccountID.storable)
    }

    /// Returns nil unless the parameters hold an `error` that is not blank.
    init?(_ parameters: FormParameters) {
        guard let error = parameters["error"]?.trimmedNonEmpty else { return nil }
        self.error = UntrustedText.clean(error)
        self.subError = (parameters["suberror"] ?? parameters["error_subcode"]).map { UntrustedText.clean($0) }
        self.description = parameters["error_description"].map { UntrustedText.clean($0) }
        self.codes = []
        self.username = parameters["adi"]?.trimmedNonEmpty.map { UntrustedText.clean($0) }
    }

    /// The error of a token endpoint. `code` replaces the code of the table.
    func tokenError(_ code: TokenError.Code? = nil, response: HTTPResponse) -> TokenError {
        tokenError(code ?? tokenEndpointCode, httpStatus: response.status)
    }

    /// The error of a token endpoint in a sign-in.
    func signInError(response: HTTPResponse) -> TokenError { tokenError(signInCode, response: response) }

    /// The error of an authorization endpoint: with the code of the same error of a token endpoint in a sign-in, but
    /// `authorizationFailed` for errors without a code of their own.
    func authorizationError() -> TokenError {
        let code = signInCode
        var error = tokenError(code == .serverOAuth ? .authorizationFailed : code, httpStatus: nil)
        (error.details.correlationID, error.details.username) = (correlationID, username)
        return error
    }

    /// The identifier in a description of Entra's, such as `… Correlation ID: UUID Timestamp: …`: a redirect has no other place
    /// for it. Nil if there is none.
    private var correlationID: CorrelationID? {
        guard let description, let mark = description.ranges(of: "Correlation ID: ").last else { return nil }
        return CorrelationID(String(description[mark.upperBound...].prefix(36)))
    }

    /// The code of the error in a sign-in. As in MSAL, errors that require the sign-in that has just failed have no code of their own.
    private var signInCode: TokenError.Code {
        let code = tokenEndpointCode
        return code == .interactionRequired && error.lowercased() != "interaction_required" ? .serverOAuth : code
    }

    private var tokenEndpointCode: TokenError.Code {
        isUnknownTenant ? .authorityValidation : TokenError.Code(oauthError: error, subError: subError)
    }

    /// Whether there is no such tenant (AADSTS90002). MSAL learns it from the discovery document, which is not read here for a refresh.
    private var isUnknownTenant: Bool { error.lowercased() == "invalid_tenant" || codes.contains(90002) }

    private func tokenError(_ code: TokenError.Code, httpStatus: Int?) -> TokenError {
        var details = TokenError.Details()
        details.oauthError = error
        details.subError = subError
        details.errorDescription = description
        details.stsErrorCodes =
            codes.isEmpty ? [ProviderRefusal.number(in: description)].compactMap(\.self) : codes
        details.httpStatus = httpStatus.map(Int32.init(clamping:))
        if code == .protectionPolicyRequired { (details.username, details.homeAccountID) = (username, homeAccountID) }
        return TokenError(code, UntrustedText.clean(description.map { "\(error): \($0)" } ?? error), details: details)
    }
}
