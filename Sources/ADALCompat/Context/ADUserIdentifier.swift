// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

public import Foundation

/// The user whose token is requested, and how strictly the user who signs in is compared with it. Immutable; may be
/// used from any thread.
public final class ADUserIdentifier: NSObject, NSCopying, Sendable {
    /// The username or object ID, without surrounding white space and in lower case; nil if it was blank.
    public let userId: String?
    /// How it is compared with the user who signed in.
    public let type: ADUserIdentifierType

    /// Creates an identifier without a name, of the type `UniqueId`.
    public override init() {
        (userId, type) = (nil, UniqueId)
    }

    /// Creates an identifier for a username, of the type `RequiredDisplayableId`. Never nil.
    public convenience init?(id userId: String) {
        self.init(id: userId, type: RequiredDisplayableId)
    }

    /// Creates an identifier for a username or an object ID. Never nil.
    public init?(id userId: String, type: ADUserIdentifierType) {
        self.userId = ADUserInformation.normalizeUserId(userId)
        self.type = type
    }

    /// Creates an identifier whose type is given by its name, such as `UniqueId`; any other name means
    /// `RequiredDisplayableId`. Never nil.
    public convenience init?(id userId: String, typeFrom type: String) {
        let named = Self.types.first { Self.string(for: $0) == type }
        self.init(id: userId, type: named ?? RequiredDisplayableId)
    }

    /// Whether `info` is the user that `identifier` names.
    ///
    /// Everybody matches nil and an identifier of the type `OptionalDisplayableId`. If `info` is nil, nothing else
    /// matches.
    public class func identifier(_ identifier: ADUserIdentifier?, matchesInfo info: ADUserInformation?) -> Bool {
        guard let identifier, identifier.type != OptionalDisplayableId else { return true }
        guard let info else { return false }
        guard let match = identifier.userIdMatchString(info) else { return true }
        return match == identifier.userId
    }

    /// The value of `info` that `userId` is compared with; nil if no comparison is made.
    public func userIdMatchString(_ info: ADUserInformation) -> String? {
        switch type {
        case UniqueId: info.uniqueId
        case RequiredDisplayableId: info.userId
        default: nil
        }
    }

    /// The name of the type, such as `RequiredDisplayableId`; nil for a number without a name.
    public func typeAsString() -> String? { Self.string(for: type) }

    /// The name of a type; nil for a number without a name.
    public class func string(for type: ADUserIdentifierType) -> String? {
        switch type {
        case UniqueId: "UniqueId"
        case OptionalDisplayableId: "OptionalDisplayableId"
        case RequiredDisplayableId: "RequiredDisplayableId"
        default: nil
        }
    }

    /// Whether `userId` is a username, which the sign-in page can be filled in with.
    public func isDisplayable() -> Bool { type == RequiredDisplayableId || type == OptionalDisplayableId }

    /// Returns the object itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    private static let types = [UniqueId, OptionalDisplayableId, RequiredDisplayableId]
}

/// How an `ADUserIdentifier` is compared with the user who signed in.
public struct ADUserIdentifierType: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Compared with `ADUserInformation.uniqueId`, the object ID in one tenant.
public var UniqueId: ADUserIdentifierType { ADUserIdentifierType(0) }

/// Not compared: the name selects the account in the cache and fills in the sign-in page, where another user may sign in.
public var OptionalDisplayableId: ADUserIdentifierType { ADUserIdentifierType(1) }

/// Compared with `ADUserInformation.userId`, the username.
public var RequiredDisplayableId: ADUserIdentifierType { ADUserIdentifierType(2) }
