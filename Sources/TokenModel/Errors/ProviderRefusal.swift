/// The reasons for which an identity provider refuses a request, as far as their remedies differ. OAuth has few names
/// of errors; Entra's numbers (`AADSTS…`) are more precise.
package enum ProviderRefusal: Sendable, CaseIterable {
    case unknownApp, disabledApp, unknownTenant, appOfOneTenant, confidentialApp, unauthenticatedApp, redirectURI
    case scopes, resource
    case consent, consentOfAdministrator
    case unassignedAccount, unknownAccount, disabledAccount
    case policy
    case declined, question, endedSignIn

    /// Returns nil if the details do not contain the reason.
    package init?(_ details: TokenError.Details) {
        let numbers = details.stsErrorCodes + [Self.number(in: details.errorDescription)].compactMap(\.self)
        if let known = numbers.lazy.compactMap({ Self.ofNumber[$0] }).first {
            self = known
            return
        }
        let names = [details.subError, details.oauthError].compactMap { $0?.lowercased() }
        // Keycloak's name for an app that does not authenticate itself. Only that has the status 401 (RFC 6749 section 5.2).
        let isUnauthenticated = names.last == "unauthorized_client" && details.httpStatus == 401
        let named = names.lazy.compactMap { Self.ofName[$0] }.first
        guard let known = named ?? (isUnauthenticated ? .unauthenticatedApp : nil) else { return nil }
        // Entra has these names for other reasons too, such as `access_denied` for policies: an unknown number may mean one of them.
        let isVague = known == .unauthenticatedApp || known == .declined && names.contains(Self.accessDenied)
        if isVague, !numbers.isEmpty { return nil }
        self = known
    }

    /// A description of what does not fit, and of the remedy, without a command.
    package var explanation: String {
        switch self {
        case .unknownApp:
            "the identity provider does not know the app in this tenant; check its client ID and the tenant"
        case .disabledApp:
            "the app is disabled in this tenant, whose administrator can enable it under “Enterprise applications”"
        case .unknownTenant: "the identity provider knows no such tenant; check its name"
        case .appOfOneTenant:
            "the app is registered for one tenant, and the authority is for all; name the tenant (“Directory (tenant) ID”)"
        case .confidentialApp:
            "the identity provider wants a secret, which an app on a user's machine does not have; in the app's registration, “Allow "
                + "public client flows” has to be “Yes”, and the platform “Mobile and desktop applications”"
        case .unauthenticatedApp:
            "the identity provider wants a secret, which an app on a user's machine does not have, or does not know the app; the app has "
                + "to be registered as a public client, without client authentication, under this client ID"
        case .redirectURI:
            "the redirect URI is not registered for the app; add http://localhost to “Mobile and desktop applications”"
        case .scopes: "the identity provider does not know a scope, or not all are for one resource; check the scopes"
        case .resource:
            "the identity provider does not know the resource in this tenant, or the app's registration does not list it; check the "
                + "scopes or the resource"
        case .consent: "nobody has consented to what the app asks for; sign in again to do so"
        case .consentOfAdministrator: "an administrator of the tenant has to consent to what the app asks for"
        case .unassignedAccount:
            "the account is not assigned to the app, which its owner does under “Enterprise applications”"
        case .unknownAccount: "the tenant does not know the account; use another account, or the account's tenant"
        case .disabledAccount: "the account is disabled or locked; an administrator of the tenant can change that"
        case .policy:
            "a policy of the tenant refuses; its administrator can say which one. A condition on the device cannot be met here"
        case .declined: "the sign-in was declined"
        case .question: "the identity provider has to ask the user something; sign in again"
        case .endedSignIn: "the identity provider has ended the sign-in, or it has expired; sign in again"
        }
    }

    /// The numbers of Entra's errors with this meaning (Microsoft Entra authentication and authorization error codes).
    package var numbers: [Int32] {
        switch self {
        case .unknownApp: [70_001, 700_016]
        case .disabledApp: [7_000_112]
        case .unknownTenant: [90_002, 900_023]
        case .appOfOneTenant: [50_194]
        case .confidentialApp: [7_000_218]
        case .unauthenticatedApp: []
        case .redirectURI: [50_011]
        case .scopes: [28_000, 28_002, 28_003, 70_011, 650_053]
        case .resource: [50_001, 65_005, 500_011, 650_052, 650_057]
        case .consent: [65_001]
        case .consentOfAdministrator: [90_094, 90_095]
        case .unassignedAccount: [50_105]
        case .unknownAccount: [50_020, 50_034, 90_072]
        case .disabledAccount: [50_053, 50_057]
        case .policy:
            [
                50_005, 50_097, 50_127, 50_129, 50_131, 50_155, 53_000, 53_001, 53_002, 53_003, 53_004, 53_005, 530_003,
                530_021,
            ]
        case .declined: [65_004]
        case .question: [50_058, 50_055, 50_072, 50_074, 50_076, 50_078, 50_079, 50_125, 50_135, 50_144, 50_158]
        case .endedSignIn: [50_173, 50_132, 50_133, 70_008, 70_043, 70_044, 700_082, 700_084]
        }
    }

    /// The names of OAuth's errors, and of Entra's sub-errors, with this meaning, if no number is known. `unauthorized_client` is missing,
    /// which RFC 6749 section 5.2 has for a grant that the app may not use. So is `message_only`, for which only the sign-in page says the
    /// reason.
    package var names: [String] {
        switch self {
        case .unauthenticatedApp: ["invalid_client"]
        case .scopes: ["invalid_scope"]
        case .resource: ["invalid_resource", "invalid_target"]
        case .consent: ["consent_required"]
        case .declined: [Self.accessDenied, "authorization_declined"]
        case .policy: ["protection_policy_required", "additional_action", "device_authentication_failed"]
        case .question: ["interaction_required", "login_required", "basic_action", "user_password_expired"]
        case .endedSignIn: ["bad_token", "token_expired"]
        default: []
        }
    }

    /// The number at the beginning of a description, as in `AADSTS50011: The redirect URI …`: a redirect has no other place for it
    /// (RFC 6749 section 4.1.2.1).
    package static func number(in description: String?) -> Int32? {
        guard let description, description.hasPrefix("AADSTS") else { return nil }
        return Int32(description.dropFirst("AADSTS".count).prefix { $0.isASCII && $0.isNumber })
    }

    private static let accessDenied = "access_denied"

    private static let ofNumber = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { refusal in refusal.numbers.map { ($0, refusal) } })
    private static let ofName = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { refusal in refusal.names.map { ($0, refusal) } })
}
