public import Foundation
internal import TokenModel

/// What identifies an account in every tenant, and its parts. Immutable.
open class MSALAccountId: NSObject, NSCopying {
    /// `<object id>.<home tenant id>` for Entra accounts, the `sub` claim for others; in lower case.
    public let identifier: String
    /// The object id in the home tenant; nil when the identifier does not have two parts.
    public let objectId: String?
    /// The home tenant's id; nil when the identifier does not have two parts.
    public let tenantId: String?

    /// An empty ID: the identifier is empty, its parts are nil. For test doubles.
    public override init() {
        (identifier, objectId, tenantId) = ("", nil, nil)
    }

    init(_ id: HomeAccountID) {
        identifier = id.text
        objectId = id.objectID
        tenantId = id.tenantID
    }

    /// The same object: it cannot change.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the identifiers are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALAccountId)?.identifier == identifier
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { identifier.hashValue }
}
