internal import Foundation
internal import TokenModel

/// Properties that hold for every text of an app, a file or a provider: URLs, authorities, scopes, names and ID tokens. Shared with
/// the fuzzer in Tests/Fuzz, so this file does not import Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum TextProperties {
    static func broken(_ bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        return brokenURL(text) ?? brokenAuthority(text) ?? brokenScopes(text) ?? brokenName(text)
            ?? brokenIdentifier(text) ?? brokenToken(text, bytes)
    }

    /// The short way of parsing a URL gives what the long way gives, and the host of an environment is that of its URL.
    private static func brokenURL(_ text: String) -> String? {
        if let plain = URLParts(plain: text), let parsed = try? URLParts(parsing: text), plain != parsed {
            return "\(text.debugDescription) is \(plain) and \(parsed)"
        }
        guard let parts = try? URLParts(text) else {
            return BrowserRedirect(text).replaced == nil && BrowserRedirect.isUsable(text)
                ? "\(text.debugDescription) is a redirect URI and no URL" : nil
        }
        if BrowserRedirect.isUsable(text), !parts.isLoopback { return "\(text.debugDescription) leaves this machine" }
        let host = URLParts.host(ofEnvironment: parts.environment)
        return host == parts.host ? nil : "the host of \(parts.environment.debugDescription) is \(host)"
    }

    /// The URL of an authority names the same authority, at a host that is not another one for another parser.
    private static func brokenAuthority(_ text: String) -> String? {
        for kind in [nil] + Authority.Kind.allCases {
            guard let authority = try? Authority(text, kind: kind) else { continue }
            guard let again = try? Authority(authority.url, kind: authority.kind), again == authority else {
                return "\(text.debugDescription) is \(authority) (\(authority.kind)), which is not itself"
            }
            if authority.scheme == "http", !authority.isLoopback { return "\(authority) is not on this machine" }
            if authority.environment.utf8.contains(where: { "/\\@?#%".utf8.contains($0) || $0 <= 0x20 || $0 == 0x7F }) {
                return "\(authority.environment.debugDescription) is not a host and a port"
            }
            _ = (authority.realm, authority.policy, authority.isTenantless, authority.withRealm("common"))
        }
        return nil
    }

    /// The scopes of a list are those of its text, also after it has been cut.
    private static func brokenScopes(_ text: String) -> String? {
        let scopes = ScopeSet(target: text)
        if ScopeSet(target: scopes.target) != scopes { return "the scopes \(scopes.target.debugDescription) change" }
        let limited = scopes.limited(keeping: scopes)
        if !limited.isWithinLimits || !limited.isSubset(of: scopes) { return "\(limited) are not limited" }
        return scopes.union(limited) == scopes && scopes.subtracting(scopes).isEmpty ? nil : "\(scopes) are not a set"
    }

    /// A name that was cleaned can be shown and sent, and stays as it is.
    private static func brokenName(_ text: String) -> String? {
        for limit in [10, 80, ValueLimits.text] {
            let clean = UntrustedText.clean(text, limit: limit)
            if clean.utf8.count > limit || !ValueLimits.isPrintable(clean) {
                return "\(clean.debugDescription) is shown"
            }
            if UntrustedText.clean(clean, limit: limit) != clean { return "\(clean.debugDescription) changes" }
        }
        let message = ValueLimits.message(text)
        if message.utf8.count > ValueLimits.text || message.utf8.contains(0) {
            return "\(message.debugDescription) is sent"
        }
        return ValueLimits.isPrintable(ValueLimits.name(text))
            ? nil : "\(ValueLimits.name(text).debugDescription) is a name"
    }

    private static func brokenIdentifier(_ text: String) -> String? {
        if let id = HomeAccountID(text) {
            if HomeAccountID(id.text) != id { return "the identifier \(id.text.debugDescription) changes" }
            if let object = id.objectID, let tenant = id.tenantID,
                HomeAccountID(uid: object, utid: tenant)?.text != id.text,
                object.trimmedNonEmpty == object, tenant.trimmedNonEmpty == tenant
            {
                return "\(id.text.debugDescription) is not its two parts"
            }
        }
        if let id = CorrelationID(text), id.description != text.lowercased() {
            return "\(id) was \(text.debugDescription)"
        }
        return ClientID(text).map { ClientID($0.text) == $0 } == false ? "\(text.debugDescription) is not itself" : nil
    }

    /// Base64 of RFC 4648 gives the bytes back, for secrets too; any claims can be read, whoever has written them.
    private static func brokenToken(_ text: String, _ bytes: [UInt8]) -> String? {
        let encoded = Base64URL.encode(Data(bytes))
        guard Base64URL.decode(encoded).map(Array.init) == bytes else { return "\(bytes) is not \(encoded)" }
        guard Base64URL.encode(Secret(bytes: bytes)) == Secret(encoded) else { return "\(bytes) differs as a secret" }
        for token in [text, "e30.\(encoded).e30"] {
            guard let claims = IDTokenClaims(idToken: token) else { continue }
            _ = (claims.username, claims.localAccountID, claims.v1UserID)
        }
        _ = HomeAccountID.named(in: encoded)
        return nil
    }
}
