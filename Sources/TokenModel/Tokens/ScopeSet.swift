/// A set of scopes: in the order given, without duplicates, compared regardless of case and order. The agent gives an app of an OpenID
/// provider tokens for the exact scopes only.
///
/// A v1 resource is written as the single scope `<resource>/.default`. A trailing slash of the resource is kept:
/// `https://x/` becomes `https://x//.default`.
public struct ScopeSet: Sendable, CustomStringConvertible {
    /// The scopes, trimmed, in the order given.
    public let scopes: [String]
    /// The scopes in lower case.
    package let keys: Set<String>

    /// Trims each scope, and drops blank and duplicate ones.
    public init(_ scopes: some Sequence<String>) {
        // A loop, because generic algorithms are not specialised here.
        var (kept, keys) = ([String](), Set<String>(minimumCapacity: scopes.underestimatedCount))
        kept.reserveCapacity(scopes.underestimatedCount)
        for scope in scopes {
            guard let scope = scope.trimmedNonEmpty, keys.insert(scope.inLowerCase).inserted else { continue }
            kept.append(scope)
        }
        self.scopes = kept
        self.keys = keys
    }

    /// Splits a space-separated `scope` value (RFC 6749 section 3.3). Tabs and line breaks separate scopes too.
    public init(target: String) {
        // Bytes, because a space and a combining character after it are one character, which is no white space.
        let parts = target.utf8.split { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
        self.init(parts.map { String(Substring($0)) })
    }

    /// The scope that stands for all permissions of a v1 resource.
    public init(resource: String) {
        self.init([resource + Self.defaultSuffix])
    }

    /// The v1 resource; nil unless there is exactly one scope and it ends in `/.default`.
    public var resource: String? {
        guard scopes.count == 1, let scope = scopes.first, scope.hasSuffix(Self.defaultSuffix) else { return nil }
        return String(scope.dropLast(Self.defaultSuffix.count))
    }

    /// The scopes joined by single spaces, as in requests and in the store.
    public var target: String { scopes.joined(separator: " ") }

    /// The scopes in lower case and sorted, joined by single spaces: the same text for equal sets.
    package var canonicalTarget: String { keys.count > 1 ? keys.sorted().joined(separator: " ") : keys.first ?? "" }

    /// The scopes joined by single spaces.
    public var description: String { target }

    /// Whether there are none.
    public var isEmpty: Bool { scopes.isEmpty }

    /// Whether `other` has every scope of this set.
    public func isSubset(of other: ScopeSet) -> Bool { keys.isSubset(of: other.keys) }

    /// Whether the sets have a scope in common.
    public func intersects(_ other: ScopeSet) -> Bool { !keys.isDisjoint(with: other.keys) }

    /// Whether the set has `scope`.
    public func contains(_ scope: String) -> Bool { keys.contains(scope.lowercased()) }

    /// The scopes that `other` does not have.
    public func subtracting(_ other: ScopeSet) -> ScopeSet { ScopeSet(scopes.filter { !other.contains($0) }) }

    /// The scopes of this set, followed by those that only `other` has.
    public func union(_ other: ScopeSet) -> ScopeSet { ScopeSet(scopes + other.scopes) }

    /// The scopes that the agent adds to every v2 request, but for those that an OpenID provider does not have. An app need not request them,
    /// and an app on MSAL may not.
    public static let reserved = ScopeSet([openID, "profile", offlineAccess])

    /// The scopes of OpenID Connect that give access to no resource. An issuer need not list them among the granted ones.
    package static let ofNoResource = reserved.union(ScopeSet(["email"]))

    /// The scope of every request to an OpenID provider (OpenID Connect Core 1.0 section 3.1.2.1).
    package static let openID = "openid"

    /// The scope with which an app requests a refresh token (OpenID Connect Core 1.0 section 11).
    package static let offlineAccess = "offline_access"

    private static let defaultSuffix = "/.default"
}

extension ScopeSet {
    /// Whether the scopes fit into the store and a message.
    package var isWithinLimits: Bool {
        scopes.count <= ValueLimits.listItems && scopes.allSatisfy(Self.isWithinLimits)
            && scopes.reduce(-1) { $0 + $1.utf8.count + 1 } <= ValueLimits.longText
    }

    /// The scopes that fit into the store and a message; `requested` ones are kept before others.
    package func limited(keeping requested: ScopeSet) -> ScopeSet {
        if isWithinLimits { return self }
        let sound = scopes.filter(Self.isWithinLimits)
        var kept: Set<String> = []
        var size = 0
        for scope in sound.filter(requested.contains) + sound.filter({ !requested.contains($0) }) {
            size += scope.utf8.count + 1
            guard kept.count < ValueLimits.listItems, size <= ValueLimits.longText else { break }
            kept.insert(scope)
        }
        return ScopeSet(sound.filter(kept.contains))
    }

    private static func isWithinLimits(_ scope: String) -> Bool {
        scope.utf8.count <= ValueLimits.text && ValueLimits.isPrintable(scope)
    }
}

extension ScopeSet: Hashable {
    /// Order and case do not matter.
    public static func == (left: Self, right: Self) -> Bool { left.keys == right.keys }
    /// Order and case do not matter.
    public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}

/// The generation of Entra's endpoints.
@nonexhaustive public enum OAuthVersion: Int32, Sendable, Hashable {
    /// `/oauth2/token` with a resource, as ADAL and AD FS use it.
    case v1 = 1
    /// `/oauth2/v2.0/token` with scopes, as MSAL uses it.
    case v2 = 2
}
