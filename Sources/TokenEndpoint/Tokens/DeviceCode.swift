package import TokenModel

/// A request for a code that the user enters on another device (RFC 8628 section 3.1).
package struct DeviceCodeRequest: Sendable {
    /// The app for which the user signs in.
    package var clientID: ClientID
    /// The authority whose endpoint receives the request.
    package var authority: Authority
    /// The generation of the endpoint, which takes scopes or a resource.
    package var version: OAuthVersion
    /// The requested scopes; in v1 exactly one `<resource>/.default`.
    package var scopes: ScopeSet
    /// The `claims` parameter as JSON; nil for none.
    package var claims: String?
    /// Further form fields; names that the protocol sets are ignored.
    package var extraParameters: [String: String]
    /// The correlation ID of the operation.
    package var correlationID: CorrelationID
    /// The hosts of the authority's cloud, if that is one of Microsoft's clouds; empty if it is none, as far as is known.
    package var cloudHosts: Set<String>

    package init(
        clientID: ClientID, authority: Authority, version: OAuthVersion, scopes: ScopeSet, claims: String? = nil,
        extraParameters: [String: String] = [:], correlationID: CorrelationID, cloudHosts: Set<String> = []
    ) {
        self.clientID = clientID
        self.authority = authority
        self.version = version
        self.scopes = scopes
        self.claims = claims
        self.extraParameters = extraParameters
        self.correlationID = correlationID
        self.cloudHosts = cloudHosts
    }

    /// Encodes the body.
    func form(reservedScopes: ScopeSet) throws(TokenError) -> FormParameters {
        var form = FormParameters()
        form.add("client_id", clientID.text)
        try form.addAudience(scopes, version: version, reserved: reservedScopes)
        form.add("client_info", authority.kind == .openID ? nil : "1")
        form.add("claims", claims)
        form.add(extra: extraParameters)
        return form
    }
}

/// The response to a device code request (RFC 8628 section 3.2).
package struct DeviceCodeGrant: Sendable {
    /// The code to redeem after the user has entered the user code.
    package var deviceCode: Secret
    /// The code that the user enters: up to 16 ASCII letters, digits and hyphens.
    package var userCode: String
    /// The page on which the user enters the code, at a host that `isPage(at:of:in:)` admits.
    package var verificationURL: String
    /// Instructions for the user, without control characters. Those of a provider that is neither Microsoft's nor
    /// on this machine are the agent's.
    package var message: String
    /// The lifetime of the code in seconds; at most an hour, whatever the provider says.
    package var expiresIn: Int64
    /// The time between two polls in seconds; at least one, and at most a minute.
    package var interval: Int64

    package init(
        deviceCode: Secret, userCode: String, verificationURL: String, message: String, expiresIn: Int64,
        interval: Int64
    ) {
        self.deviceCode = deviceCode
        self.userCode = userCode
        self.verificationURL = verificationURL
        self.message = message
        self.expiresIn = expiresIn
        self.interval = interval
    }

    /// - Parameters:
    ///   - authority: the provider. Only one on this machine that uses `http` itself may name a page with `http`: on such
    ///     a page somebody else could read the user's password.
    ///   - cloudHosts: as `DeviceCodeRequest.cloudHosts`.
    init(_ response: HTTPResponse, of authority: Authority, in cloudHosts: Set<String> = []) throws(TokenError) {
        let object = try response.oauthObject(of: authority, isOfSignIn: true)
        guard let deviceCode = object.text("device_code"), let userCode = object.text("user_code"),
            let url = object.text("verification_uri") ?? object.text("verification_url")
        else { throw response.invalid("holds no device code") }
        guard Endpoints.isSafe(url, for: authority), Endpoints.isURL(url) else {
            throw response.invalid("names a page for the code that does not use https")
        }
        guard Self.isPage(at: try URLParts(url).host, of: authority, in: cloudHosts) else {
            throw response.invalid("names a page for the code that is another provider's")
        }
        guard Self.isUserCode(userCode) else {
            throw response.invalid("holds a user code that is too long, or has more than letters, digits and hyphens")
        }
        // A text could name the page of another provider, and its code, as well.
        let isTrusted = authority.isLoopback || CloudDirectory.isMicrosofts(authority.environment)
        let message = isTrusted ? object.text("message") : nil
        self.init(
            deviceCode: Secret(deviceCode), userCode: userCode, verificationURL: url,
            message: UntrustedText.clean(
                message ?? "To sign in, open \(url) in a browser and enter the code \(userCode)."),
            expiresIn: min(object.seconds("expires_in") ?? 900, Self.longestLifetime),
            // RFC 8628 section 3.5: the default is five seconds. Less than a second would be a busy loop.
            interval: min(max(object.seconds("interval") ?? 5, 1), Self.longestInterval))
    }

    /// Whether users of a provider may enter their code at a page of a host. A provider that names the page of another one has asked that
    /// one for the code, and would get the tokens of the user who enters it there (RFC 8628 section 5.4).
    ///
    /// Entra's pages are at several hosts of Microsoft's, such as `microsoft.com/devicelogin`, in each of its clouds; those of AD FS, and of
    /// B2C and External ID at a domain of the organisation, at the host of the token endpoint. An OpenID provider names its endpoints itself,
    /// and its page may be at any host but Microsoft's. A provider on this machine belongs to whoever tests an app.
    static func isPage(at host: String, of authority: Authority, in cloudHosts: Set<String> = []) -> Bool {
        if authority.isLoopback { return true }
        if CloudDirectory.isMicrosofts(authority.environment) || !cloudHosts.isEmpty {
            return CloudDirectory.hasMicrosoftsPages(host: host)
                || cloudHosts.contains { URLParts.host(ofEnvironment: $0) == host }
        }
        if authority.kind == .openID { return !CloudDirectory.hasMicrosoftsPages(host: host) }
        return host == URLParts.host(ofEnvironment: authority.environment)
    }

    /// Whether a text can only be a code, and no instructions. RFC 8628 section 6.1 recommends letters or digits, with a hyphen between
    /// groups of them.
    private static func isUserCode(_ text: String) -> Bool {
        (1...longestUserCode).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Providers' codes live for half an hour at most. A sign-in occupies a place in the agent for as long.
    private static let longestLifetime: Int64 = 3600
    private static let longestInterval: Int64 = 60
    /// In characters. The user types it; the codes of known providers have eleven at most.
    private static let longestUserCode = 16
}
