package import TokenModel

/// An app of the configuration, `[apps.NAME]`: the values with which `ssoctl` requests tokens for it.
package struct ConfiguredApp: Sendable, Equatable {
    package let name: String
    package let clientID: ClientID
    /// The authority of the app; nil if the configuration has none, so that it is the account's own.
    package let authority: Authority?
    /// The scopes of a request that names none; empty for a v1 resource.
    package let scopes: [String]
    /// The v1 resource of a request that names neither scopes nor a resource; nil if the app has scopes.
    package let resource: String?
    package let redirectURI: String?
    package let sharingGroup: SharingGroup
    /// The file that has the app.
    package let file: String

    /// Reads a table.
    init(_ table: TOMLDocument.Table, file: String) throws(TOMLError) {
        name = try Self.name(table)
        self.file = file
        var parts = AuthorityParts()
        var (clientID, group) = (ClientID?.none, SharingGroup.standard)
        var (scopes, resource, redirectURI) = ([String](), String?.none, String?.none)
        var scopesLine = table.line
        for entry in table.entries {
            switch entry.key {
            case "client_id": clientID = try Self.value(entry, ClientID.init)
            case "authority": parts.url = entry
            case "authority_kind": parts.kind = (try Configuration.choice(entry) as AuthorityKindName).kind
            case "tenant": parts.tenant = try Self.value(entry, TenantName.init)
            case "cloud": parts.cloud = try Configuration.choice(entry)
            case "scopes":
                scopes = try Self.scopes(entry)
                scopesLine = entry.line
            case "resource": resource = try Self.value(entry, \.trimmedNonEmpty)
            case "redirect_uri": redirectURI = try Self.redirectURI(entry)
            case "sharing_group": group = try Self.value(entry, SharingGroup.init)
            default:
                throw TOMLError(
                    entry.line,
                    "“\(entry.key)” is not a key of [apps.\(name)]; use client_id, authority, authority_kind, tenant, cloud, "
                        + "scopes, resource, redirect_uri or sharing_group")
            }
        }
        guard let clientID else {
            throw TOMLError(
                table.line, "[apps.\(name)] has no client_id; add client_id = \"…\", the application (client) ID")
        }
        guard scopes.isEmpty || resource == nil else {
            throw TOMLError(table.line, "[apps.\(name)] has scopes and a resource; remove one of them")
        }
        self.clientID = clientID
        authority = try parts.authority(of: table)
        try Self.requireOneResource(scopes, at: authority, scopesLine)
        sharingGroup = group
        (self.scopes, self.resource, self.redirectURI) = (scopes, resource, redirectURI)
    }

    private static func scopes(_ entry: TOMLDocument.Entry) throws(TOMLError) -> [String] {
        let texts = try entry.texts
        guard texts.allSatisfy({ $0.trimmedNonEmpty != nil }) else {
            throw TOMLError(entry.line, "“scopes” has a blank text; remove it")
        }
        let scopes = texts.flatMap { ScopeSet(target: $0).scopes }
        if let scope = ScopeList.invalid(in: scopes) {
            throw TOMLError(
                entry.line,
                "“\(scope)” is not a scope; write printable characters of ASCII, without a quotation mark or a backslash"
            )
        }
        return scopes
    }

    /// Refuses scopes of several resources: Entra ID issues a token for one, so that every request with them would fail.
    private static func requireOneResource(
        _ scopes: [String], at authority: Authority?, _ line: Int
    ) throws(TOMLError) {
        let resources = ScopeList.resources(scopes)
        guard resources.count > 1, (authority ?? .common).kind == .entra else { return }
        throw TOMLError(
            line,
            "the scopes are for \(resources.count) resources, \(resources.joined(separator: " and ")), and a token is for one; "
                + "write a table for each, with the same client_id")
    }

    private static func redirectURI(_ entry: TOMLDocument.Entry) throws(TOMLError) -> String {
        let uri = try value(entry, \.trimmedNonEmpty)
        guard isRedirectURI(uri) else {
            throw TOMLError(
                entry.line,
                "“\(uri)” is not a redirect URI; write it as in http://localhost, or remove the line")
        }
        return uri
    }

    /// Whether a text is an absolute URI (RFC 3986 section 4.3), which may have any scheme.
    package static func isRedirectURI(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }
        let isScheme =
            scheme.first.map { $0.isASCII && $0.isLetter } ?? false
            && scheme.utf8.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
        return isScheme && text.utf8.count > scheme.utf8.count + 1 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func name(_ table: TOMLDocument.Table) throws(TOMLError) -> String {
        guard table.names.count == 2 else {
            throw TOMLError(table.line, "[apps] has no name; write it as in [apps.graph]")
        }
        guard isName(table.names[1]) else {
            throw TOMLError(
                table.line,
                "“\(table.names[1])” is not a name of an app; use letters, digits, “_”, “-” and “.”, and a letter or a digit first"
            )
        }
        return table.names[1]
    }

    /// Whether an app may have the name, so that it can be told from an option and from an account.
    package static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isASCIILetterOrDigit, text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-.".utf8.contains($0) }
    }

    private static func value<Value>(
        _ entry: TOMLDocument.Entry, _ value: (String) -> Value?
    ) throws(TOMLError) -> Value {
        let text = try entry.text
        guard let value = value(text) else {
            throw TOMLError(
                entry.line, "“\(text)” is not a value of “\(entry.key)”; write another one, or remove the line")
        }
        return value
    }
}

/// The keys of an app that say which authority it has.
private struct AuthorityParts {
    var url: TOMLDocument.Entry?
    var kind: Authority.Kind?
    var tenant: TenantName?
    var cloud: CloudName?

    func authority(of table: TOMLDocument.Table) throws(TOMLError) -> Authority? {
        guard let url else {
            guard kind == nil else {
                throw TOMLError(
                    table.line, "authority_kind needs the URL of the provider; add authority = \"https://…\"")
            }
            guard tenant != nil || cloud != nil else { return nil }
            return Authority(cloud: cloud ?? .public, tenant: tenant)
        }
        guard tenant == nil, cloud == nil else {
            throw TOMLError(
                url.line, "the authority has the tenant and the cloud; remove tenant and cloud, or authority")
        }
        let text = try url.text
        do throws(TokenError) { return try Authority(text, kind: kind) } catch {
            throw TOMLError(
                url.line,
                "the value of “authority” cannot be used: \(error.message); write it as in "
                    + "https://login.microsoftonline.com/contoso.com")
        }
    }
}

/// The names of Microsoft's clouds, in the configuration and on the command line.
package enum CloudName: String, Sendable, CaseIterable {
    case `public`
    case usgov
    case china

    /// The host of the cloud's authorities.
    package var host: String {
        switch self {
        case .public: "login.microsoftonline.com"
        case .usgov: "login.microsoftonline.us"
        case .china: "login.partner.microsoftonline.cn"
        }
    }
}

/// The names of the kinds of identity provider, in the configuration and on the command line.
package enum AuthorityKindName: String, Sendable, CaseIterable {
    case entra, b2c, adfs, ciam, openid

    package var kind: Authority.Kind {
        switch self {
        case .entra: .entra
        case .b2c: .b2c
        case .adfs: .adfs
        case .ciam: .ciam
        case .openid: .openID
        }
    }
}

extension Authority {
    /// The authority of a tenant in one of Microsoft's clouds.
    ///
    /// - Parameter tenant: nil for `common`.
    package init(cloud: CloudName, tenant: TenantName?) {
        self = Authority.common.withEnvironment(cloud.host).withRealm(tenant?.text ?? "common")
    }
}
