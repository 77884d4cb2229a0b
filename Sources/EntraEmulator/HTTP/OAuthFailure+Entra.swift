internal import NIOHTTP1

/// The failures of Microsoft Entra that the emulator knows, with the numbers of
/// <https://learn.microsoft.com/entra/identity-platform/reference-error-codes>.
extension OAuthFailure {
    static func missingParameter(_ name: String) -> OAuthFailure {
        OAuthFailure("invalid_request", 900144, "The request body must contain the following parameter: '\(name)'.")
    }

    static func unregisteredRedirectURI(_ uri: String, clientID: String) -> OAuthFailure {
        OAuthFailure(
            "invalid_request", 50011,
            "The redirect URI '\(uri)' in the request is none of those that are registered for the application "
                + "'\(clientID)'.")
    }

    static let notPosted = OAuthFailure("invalid_request", 900561, "The endpoint only accepts POST requests.")

    static let unsupportedGrant = OAuthFailure(
        "unsupported_grant_type", 70003, "The app requested an unsupported grant type.")

    static let unsupportedResponseType = OAuthFailure(
        "unsupported_response_type", 70005, "The emulator answers with response_type 'code' only.")

    static let malformedGrant = OAuthFailure(
        "invalid_grant", 70000, "The provided value for the input parameter is not valid.")

    static let badAssertion = OAuthFailure("invalid_grant", 50008, "The SAML token is invalid.")

    static let codeAlreadyRedeemed = OAuthFailure(
        "invalid_grant", 54005,
        "OAuth2 Authorization code was already redeemed, please retry with a new valid code.")

    static let expiredGrant = OAuthFailure(
        "invalid_grant", 70008, "The provided authorization code or refresh token has expired.")

    static let wrongVerifier = OAuthFailure(
        "invalid_grant", 501481,
        "The Code_Verifier does not match the code_challenge supplied in the authorization request.")

    static let wrongRedirectURI = OAuthFailure(
        "invalid_client", 500112,
        "The reply address does not match the reply address provided when requesting the authorization code.",
        status: .unauthorized)

    static let wrongClient = OAuthFailure(
        "invalid_grant", 700009, "The grant was issued to another application.")

    static let notInFamily = OAuthFailure(
        "invalid_grant", 700009, "The application is not a member of the family of the refresh token.",
        suberror: "client_mismatch")

    static let revokedToken = OAuthFailure(
        "invalid_grant", 50173, "The provided grant has expired due to it being revoked.", suberror: "bad_token")

    static let reusedToken = OAuthFailure(
        "invalid_grant", 70000, "The refresh token has already been redeemed.", suberror: "bad_token")

    static let wrongIssuer = OAuthFailure(
        "invalid_grant", 9_002_313, "The provided grant was issued by another authority.")

    static let wrongResource = OAuthFailure(
        "invalid_grant", 0, "MSIS9611: The refresh token was issued for another resource.")

    static let disabledUser = OAuthFailure("invalid_grant", 50057, "The user account is disabled.")

    static let userNotInTenant = OAuthFailure(
        "invalid_grant", 50020, "The user account does not exist in the tenant and cannot access the application.")

    static let interactionRequired = OAuthFailure(
        "interaction_required", 16000, "Several user accounts are signed in; one has to be chosen.")

    static let loginRequired = OAuthFailure(
        "login_required", 50058, "No user is signed in, and the request allows no sign-in page.")

    static let accessDenied = OAuthFailure("access_denied", 65004, "The user declined to consent.")

    static let severalResources = OAuthFailure(
        "invalid_request", 28000, "The scope contains more than one resource.")

    static let authorizationPending = OAuthFailure(
        "authorization_pending", 70016, "OAuth 2.0 device flow error. Authorization is pending. Continue polling.")

    static let authorizationDeclined = OAuthFailure(
        "authorization_declined", 70018, "The user declined the device code.")

    static let expiredDeviceCode = OAuthFailure("expired_token", 70020, "The device code has expired.")

    static let badDeviceCode = OAuthFailure("bad_verification_code", 70018, "Bad verification code.")

    static let invalidInstance = OAuthFailure("invalid_instance", 50049, "Unknown or invalid instance.")
}
