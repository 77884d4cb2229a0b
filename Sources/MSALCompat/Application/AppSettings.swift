internal import CompatSupport
internal import Foundation
internal import TokenModel

/// The configuration of an application: copied once, so that later changes of the configuration have no effect. An object, since every
/// request refers to it.
final class AppSettings: Sendable {
    let clientID: ClientID
    let redirectURI: String?
    let authority: Authority
    let knownAuthorities: [Authority]
    let sharingGroup: SharingGroup
    let capabilities: [String]
    let extraParameters: [String: String]
    let expirationBuffer: Int64
    let allowsExtendedLifetime: Bool
    let supportsMultipleClouds: Bool

    /// Reads and checks a configuration.
    ///
    /// - Throws: -50000 with -42000 if the client ID is blank or MSAL does not support the kind of the authority, with
    ///   -42011 if the redirect URI is not a URL with a scheme.
    init(_ config: MSALPublicClientApplicationConfig) throws(NSError) {
        guard let clientID = ClientID(config.clientId) else {
            throw MSALError.error(.internalErrorInvalidParameter, "the client ID is blank")
        }
        _ = try MSALAuthority.make(config.authority.authority)
        let redirectURI = try MSALRedirectUri(
            config.redirectUri, isValidated: !config.bypassRedirectURIValidation)
        self.clientID = clientID
        // The default redirect URI is not registered for any app, so that the agent uses its own loopback redirect instead.
        self.redirectURI = config.redirectUri?.trimmedNonEmpty == nil ? nil : redirectURI.url.absoluteString
        authority = config.authority.authority
        knownAuthorities = config.knownAuthorities.map(\.authority)
        sharingGroup = SharingGroup(config.cacheConfig.keychainSharingGroup) ?? .standard
        capabilities = config.clientApplicationCapabilities ?? []
        extraParameters = config.sliceConfig?.parameters ?? [:]
        let buffer = config.tokenExpirationBuffer
        expirationBuffer = buffer.isNaN ? 300 : Int64(min(max(buffer, 0), Double(UInt32.max)))
        allowsExtendedLifetime = config.extendedLifetimeEnabled
        supportsMultipleClouds = config.multipleCloudsSupported
    }
}

/// Converts MSAL's parameters to requests to the agent. Invalid parameters are refused before the agent is asked.
extension AppSettings {
    /// Creates a silent request, or returns the one that was made last of equal parameters, with a new correlation ID.
    ///
    /// - Parameter recent: the requests that were made last.
    /// - Throws: as `silentRequest(_:)`.
    func silentRequest(
        _ parameters: MSALSilentTokenParameters, recent: RecentSilentRequests
    ) throws(NSError) -> AcquireTokenSilent {
        guard let key = SilentParameters(parameters) else { return try silentRequest(parameters) }
        var request = try recent.value(for: key) { () throws(NSError) in try silentRequest(parameters) }
        request.parameters.correlationID = Self.correlationID(parameters)
        return request
    }

    /// Creates a silent request.
    ///
    /// - Throws: -50002 without an account, else as `tokenParameters(_:)`.
    func silentRequest(_ parameters: MSALSilentTokenParameters) throws(NSError) -> AcquireTokenSilent {
        guard let account = parameters.account, !account.reference.isEmpty else {
            throw MSALError.error(for: TokenError(.interactionRequired, "a silent request needs an account"))
        }
        return AcquireTokenSilent(
            parameters: try tokenParameters(parameters), account: account.reference,
            forceRefresh: parameters.forceRefresh, expirationBuffer: expirationBuffer,
            allowsExtendedLifetime: allowsExtendedLifetime)
    }

    /// Creates a sign-in request.
    ///
    /// - Throws: as `tokenParameters(_:)`.
    func interactiveRequest(_ parameters: MSALInteractiveTokenParameters) throws(NSError) -> BeginInteractive {
        var request = BeginInteractive(parameters: try tokenParameters(parameters))
        request.account = parameters.account?.reference ?? AccountReference()
        request.prompt = parameters.promptType.parameter
        request.extraScopes = Self.scopeSet(parameters.extraScopesToConsent ?? [])
        // As in MSAL, the values of the app's own parameters take precedence.
        let extra = request.parameters.extraParameters
        if extra["login_hint"] == nil {
            request.loginHint =
                Account.loginHint(parameters.account?.username) ?? parameters.loginHint?.trimmedNonEmpty
        }
        if extra["domain_hint"] == nil { request.domainHint = parameters.domainHint?.trimmedNonEmpty }
        if extra["pc"] == nil, let method = parameters.preferredAuthMethod.parameter {
            request.parameters.extraParameters["pc"] = method
        }
        return request
    }

    func listRequest(_ filter: AccountFilter) -> ListAccounts {
        ListAccounts(
            clientID: clientID, sharingGroup: sharingGroup,
            homeAccountID: filter.identifier.flatMap(HomeAccountID.init), username: filter.username,
            localAccountID: filter.tenantProfileIdentifier, onlySignedIn: filter.onlySignedIn)
    }

    /// Creates a removal request.
    ///
    /// - Throws: -50000 with -42000 if the account has neither identifier nor username.
    func removal(of account: MSALAccount, extent: RemoveAccount.Extent = .app) throws(NSError) -> RemoveAccount {
        guard !account.reference.isEmpty || extent == .everything else {
            throw MSALError.error(.internalErrorInvalidParameter, "the account has neither an identifier nor a name")
        }
        return RemoveAccount(
            clientID: clientID, sharingGroup: sharingGroup, account: account.reference, extent: extent,
            environment: account.environment)
    }

    /// Converts and checks the parameters of a token request.
    ///
    /// - Throws: -50000 with -42000 for a reserved scope, an authority of another kind than the application's, a scheme
    ///   other than bearer, claims that are given twice or cannot be encoded as JSON; with the correlation ID of the request.
    private func tokenParameters(_ parameters: MSALTokenParameters) throws(NSError) -> TokenParameters {
        let correlationID = Self.correlationID(parameters)
        do throws(NSError) {
            return try tokenParameters(parameters, correlationID)
        } catch {
            throw MSALError.error(error, of: correlationID)
        }
    }

    private func tokenParameters(
        _ parameters: MSALTokenParameters, _ correlationID: CorrelationID
    ) throws(NSError) -> TokenParameters {
        let authority = parameters.authority?.authority ?? authority
        try check(authority)
        try check(parameters.scopes, authority)
        guard parameters.hasBearerScheme else {
            throw MSALError.error(.internalErrorInvalidParameter, "proof of possession is not supported")
        }
        // Sent with silent requests too, which have to go to the cloud of the sign-in.
        var extra = extraParameters
        if let query = parameters.extraQueryParameters, !query.isEmpty { extra.merge(query) { $1 } }
        if supportsMultipleClouds { extra["instance_aware"] = "true" }
        return TokenParameters(
            clientID: clientID, sharingGroup: sharingGroup, authority: authority,
            scopes: Self.scopeSet(parameters.scopes), redirectURI: redirectURI, claims: try claims(parameters),
            capabilities: capabilities, extraParameters: extra,
            validatesAuthority: authority.kind != .ciam && !knownAuthorities.contains(authority),
            correlationID: correlationID)
    }

    /// As in MSAL, one text may name several scopes, separated by spaces.
    private static func scopeSet(_ scopes: [String]) -> ScopeSet { ScopeSet(target: scopes.joined(separator: " ")) }

    private static func correlationID(_ parameters: MSALTokenParameters) -> CorrelationID {
        parameters.correlationId.map { CorrelationID($0) } ?? CorrelationID()
    }

    private func check(_ authority: Authority) throws(NSError) {
        guard authority.kind == self.authority.kind else {
            throw MSALError.error(
                .internalErrorInvalidParameter,
                "\(authority) is of another kind than the application's \(self.authority)")
        }
    }

    private func check(_ scopes: [String], _ authority: Authority) throws(NSError) {
        for scope in scopes {
            guard let scope = scope.trimmedNonEmpty else { continue }
            // Case-sensitive, as in MSAL.
            if ScopeSet.reserved.scopes.contains(scope) {
                throw MSALError.error(
                    .internalErrorInvalidParameter, "the scope \(scope) is always requested and must not be included")
            }
            if authority.kind != .b2c, scope == clientID.text {
                throw MSALError.error(
                    .internalErrorInvalidParameter, "the client ID is not a scope; request \(scope)/.default")
            }
        }
    }

    private func claims(_ parameters: MSALTokenParameters) throws(NSError) -> String? {
        guard let request = parameters.claimsRequest, request.hasClaims else { return nil }
        guard parameters.extraQueryParameters?["claims"] == nil else {
            throw MSALError.error(.internalErrorInvalidParameter, "claims are given twice; use claimsRequest")
        }
        guard let json = request.jsonString() else {
            throw MSALError.error(.internalErrorInvalidParameter, "the claims request cannot be written as JSON")
        }
        return json
    }
}

/// The requests of one application that were made last.
typealias RecentSilentRequests = RecentValues<SilentParameters, AcquireTokenSilent>

/// The values that a silent request depends on, apart from the settings of the application and the correlation ID.
struct SilentParameters: Sendable, Equatable {
    private let scopes: [String]
    private let identifier: String?
    private let username: String?
    private let authority: Authority?
    private let forceRefresh: Bool
    private let extraParameters: [String: String]

    /// Returns nil for parameters of which a request is made each time: with claims, or with another scheme than bearer.
    init?(_ parameters: MSALSilentTokenParameters) {
        guard parameters.claimsRequest == nil, let account = parameters.account, parameters.hasBearerScheme else {
            return nil
        }
        scopes = parameters.scopes
        identifier = account.identifier
        username = account.username
        authority = parameters.authority?.authority
        forceRefresh = parameters.forceRefresh
        extraParameters = parameters.extraQueryParameters ?? [:]
    }

    /// Equal if the bytes are: canonically equivalent texts may name different accounts.
    static func == (left: Self, right: Self) -> Bool {
        left.forceRefresh == right.forceRefresh && left.identifier.hasSameBytes(as: right.identifier)
            && left.username.hasSameBytes(as: right.username) && left.scopes.hasSameBytes(as: right.scopes)
            && left.authority == right.authority
            && (left.authority?.url).hasSameBytes(as: right.authority?.url)
            && left.extraParameters.hasSameBytes(as: right.extraParameters)
    }
}
