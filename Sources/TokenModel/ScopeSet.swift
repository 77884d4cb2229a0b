/// The permissions an app asks for: ordered as given, without repeats, compared without regard to case or order.
///
/// A v1 resource is the one scope `<resource>/.default`; the resource's own trailing slash stays, so that
/// `https://x/` becomes `https://x//.default`.
public struct ScopeSet: Sendable, CustomStringConvertible {
    /// The scopes, trimmed, in the order given.
    public let scopes: [String]
    private let keys: Set<String>

    /// Trims each scope and drops blanks and repeats.
    public init(_ scopes: some Sequence<String>) {
        // A loop, since this is compiled once for every kind of sequence: generic algorithms on it would not be specialised.
        var (kept, keys) = ([String](), Set<String>())
        for scope in scopes {
            guard let scope = scope.trimmedNonEmpty, keys.insert(scope.lowercased()).inserted else { continue }
            kept.append(scope)
        }
        self.scopes = kept
        self.keys = keys
    }

    /// Splits a space-separated `scope` value (RFC 6749 section 3.3).
    public init(target: String) {
        self.init(target.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// All of a v1 resource's permissions.
    public init(resource: String) {
        self.init([resource + Self.defaultSuffix])
    }

    /// The v1 resource this set stands for; nil unless it is one scope that ends in `/.default`.
    public var resource: String? {
        guard scopes.count == 1, let scope = scopes.first, scope.hasSuffix(Self.defaultSuffix) else { return nil }
        return String(scope.dropLast(Self.defaultSuffix.count))
    }

    /// The scopes joined by single spaces, as sent and stored.
    public var target: String { scopes.joined(separator: " ") }

    /// The scopes in lower case and in order, joined by single spaces: the same for every way to write the same set.
    package var canonicalTarget: String { keys.count > 1 ? keys.sorted().joined(separator: " ") : keys.first ?? "" }

    /// The scopes joined by single spaces.
    public var description: String { target }

    /// Whether there are none.
    public var isEmpty: Bool { scopes.isEmpty }

    /// Whether every one of these is among `other`'s.
    public func isSubset(of other: ScopeSet) -> Bool { keys.isSubset(of: other.keys) }

    /// Whether the two have a scope in common.
    public func intersects(_ other: ScopeSet) -> Bool { !keys.isDisjoint(with: other.keys) }

    /// Whether `scope` is one of these.
    public func contains(_ scope: String) -> Bool { keys.contains(scope.lowercased()) }

    /// These without the ones in `other`.
    public func subtracting(_ other: ScopeSet) -> ScopeSet { ScopeSet(scopes.filter { !other.contains($0) }) }

    /// These, then the ones of `other` that are not yet there.
    public func union(_ other: ScopeSet) -> ScopeSet { ScopeSet(scopes + other.scopes) }

    /// The scopes the agent adds to every v2 request; apps may not ask for them.
    public static let reserved = ScopeSet(["openid", "profile", "offline_access"])

    private static let defaultSuffix = "/.default"
}

extension ScopeSet: Hashable {
    /// Order and case do not matter.
    public static func == (left: Self, right: Self) -> Bool { left.keys == right.keys }
    /// Order and case do not matter.
    public func hash(into hasher: inout Hasher) { hasher.combine(keys) }
}
