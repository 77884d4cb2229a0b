public import Foundation
internal import TokenModel

/// What a token is found by: authority, resource and client ID. Opaque to apps; compare two of them.
public final class ADTokenCacheKey: NSObject, NSCopying, Sendable {
    private let authority: String
    private let resource: String?
    private let clientID: String

    /// Nil when the authority is not one, or the client ID is blank.
    init?(authority: String, resource: String?, clientID: String?) {
        guard let authority = CanonicalAuthority(authority)?.text, let clientID = clientID?.trimmedNonEmpty else {
            return nil
        }
        self.authority = authority
        self.resource = resource?.trimmedNonEmpty?.lowercased()
        self.clientID = clientID.lowercased()
    }

    /// Two keys of the same token are equal; case does not matter.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ADTokenCacheKey else { return false }
        return authority == other.authority && resource == other.resource && clientID == other.clientID
    }

    /// Fits `isEqual(_:)`.
    public override var hash: Int { [authority, resource ?? "", clientID].hashValue }

    /// The object itself: it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}
