/// The parameters of every token acquisition: the app, the scopes and the authority.
///
/// A copy of them is a reference and a few numbers.
public struct TokenParameters: Sendable, Equatable {
    private var content: Content
    /// The generation of endpoints to use.
    public var version: OAuthVersion
    /// Whether the agent validates the authority; false if the app trusts it without that.
    public var validatesAuthority: Bool
    /// The correlation ID of the operation.
    public var correlationID: CorrelationID
    /// See `ConfinableRequest.isConfined`.
    package var isConfined = false

    /// Creates parameters, by default with the values of Microsoft's libraries.
    public init(
        clientID: ClientID, sharingGroup: SharingGroup = .standard, authority: Authority = .common,
        version: OAuthVersion = .v2, scopes: ScopeSet, redirectURI: String? = nil, claims: String? = nil,
        capabilities: [String] = [], extraParameters: [String: String] = [:], validatesAuthority: Bool = true,
        correlationID: CorrelationID = CorrelationID()
    ) {
        content = Content(
            Values(
                clientID: clientID, sharingGroup: sharingGroup, authority: authority, scopes: scopes,
                redirectURI: redirectURI, claims: claims, capabilities: capabilities, extraParameters: extraParameters))
        self.version = version
        self.validatesAuthority = validatesAuthority
        self.correlationID = correlationID
    }

    /// Whether the app accepts an account of another cloud than the authority's (Entra's `instance_aware`).
    package var isInstanceAware: Bool { extraParameters["instance_aware"]?.lowercased() == "true" }

    /// Whether `other` are these parameters, but for the correlation ID: text by text. Scopes in another order or case are other
    /// parameters, although the agent treats most of them alike.
    package func areRepeated(by other: TokenParameters) -> Bool {
        version == other.version && validatesAuthority == other.validatesAuthority
            && (content === other.content || content.values.areRepeated(by: other.content.values))
    }

    /// The values that are objects. They are shared by copies of the parameters, and copied if one of them is changed.
    private final class Content: Sendable, Equatable {
        let values: Values

        init(_ values: Values) { self.values = values }

        static func == (left: Content, right: Content) -> Bool { left === right || left.values == right.values }
    }

    private struct Values: Sendable, Equatable {
        var clientID: ClientID
        var sharingGroup: SharingGroup
        var authority: Authority
        var scopes: ScopeSet
        var redirectURI: String?
        var claims: String?
        var capabilities: [String]
        var extraParameters: [String: String]

        func areRepeated(by other: Values) -> Bool {
            scopes.scopes.hasSameBytes(as: other.scopes.scopes) && clientID.text.hasSameBytes(as: other.clientID.text)
                && authority.kind == other.authority.kind && authority.url.hasSameBytes(as: other.authority.url)
                && sharingGroup.name.hasSameBytes(as: other.sharingGroup.name)
                && redirectURI.hasSameBytes(as: other.redirectURI) && capabilities.hasSameBytes(as: other.capabilities)
                && extraParameters.hasSameBytes(as: other.extraParameters) && claims.hasSameBytes(as: other.claims)
        }
    }

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = content.values
        body(&values)
        content = Content(values)
    }
}

extension TokenParameters {
    /// The client ID of the app.
    public var clientID: ClientID {
        get { content.values.clientID }
        set { change { $0.clientID = newValue } }
    }

    /// The partition of the cache.
    public var sharingGroup: SharingGroup {
        get { content.values.sharingGroup }
        set { change { $0.sharingGroup = newValue } }
    }

    /// The authority that issues the token.
    public var authority: Authority {
        get { content.values.authority }
        set { change { $0.authority = newValue } }
    }

    /// The requested scopes; for a v1 resource, `ScopeSet(resource:)`.
    public var scopes: ScopeSet {
        get { content.values.scopes }
        set { change { $0.scopes = newValue } }
    }

    /// The app's registered redirect URI. A sign-in in a browser has it if it is an `http` URI on this machine, and else
    /// `http://localhost`. In v2 it is sent, as it is, when a refresh token is redeemed. Nil sends none.
    public var redirectURI: String? {
        get { content.values.redirectURI }
        set { change { $0.redirectURI = newValue } }
    }

    /// The `claims` parameter, a JSON object (OpenID Connect Core 1.0 section 5.5). Cached access tokens are not used for a
    /// request with claims.
    public var claims: String? {
        get { content.values.claims }
        set { change { $0.claims = newValue } }
    }

    /// Client capabilities, such as `cp1`. They are merged into `claims`; cached access tokens are used.
    public var capabilities: [String] {
        get { content.values.capabilities }
        set { change { $0.capabilities = newValue } }
    }

    /// Further query parameters for the authorization endpoint, and form parameters for the token endpoint.
    public var extraParameters: [String: String] {
        get { content.values.extraParameters }
        set { change { $0.extraParameters = newValue } }
    }
}
