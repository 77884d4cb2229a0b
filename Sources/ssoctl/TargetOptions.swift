internal import ArgumentParser
internal import TokenModel

/// What a token is for: scopes as MSAL asks for them, or a resource as ADAL does.
struct TargetOptions: ParsableArguments {
    @Option(name: .customLong("client-id"), help: "The application (client) ID.")
    var clientID: String

    @Option(help: "Who issues the tokens.")
    var authority = Authority.common.url

    @Option(
        name: .customLong("authority-kind"),
        help: "What kind of provider that is, where its URL does not tell; openid takes any OpenID Connect provider.")
    var kind: AuthorityKind?

    @Option(name: .customLong("scope"), parsing: .singleValue, help: "A permission; may be repeated.")
    var scopes: [String] = []

    @Option(help: "Ask for a resource, as ADAL does, instead of scopes.")
    var resource: String?

    @Option(help: "JSON of a claims request.")
    var claims: String?

    @Option(help: "The sharing group.")
    var group = SharingGroup.standard.name

    @Option(
        name: .customLong("redirect-uri"),
        help: "The app's registered redirect URI; http://localhost is used instead of one that leads elsewhere.")
    var redirectURI: String?

    func validate() throws {
        guard scopes.isEmpty != (resource == nil) else {
            throw ValidationError("Name what the token is for: --scope (once or more), or --resource.")
        }
        guard ClientID(clientID) != nil else { throw ValidationError("--client-id must not be blank.") }
        guard SharingGroup(group) != nil else { throw ValidationError("--group must not be blank.") }
        do { _ = try Authority(authority, kind: kind?.kind) } catch {
            throw ValidationError("--authority: \(error.message).")
        }
    }

    func parameters() throws(TokenError) -> TokenParameters {
        guard let clientID = ClientID(clientID), let group = SharingGroup(group) else {
            throw TokenError(.invalidDeveloperParameter, "--client-id and --group must not be blank")
        }
        return TokenParameters(
            clientID: clientID, sharingGroup: group,
            authority: try Authority(authority, kind: kind?.kind),
            version: resource == nil ? .v2 : .v1,
            scopes: resource.map { ScopeSet(resource: $0) } ?? ScopeSet(scopes), redirectURI: redirectURI,
            // Who types an authority vouches for it.
            claims: claims, validatesAuthority: false)
    }
}
