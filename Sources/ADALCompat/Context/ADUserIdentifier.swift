// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

public import Foundation
internal import TokenModel

/// Who is asked for, and how strictly. Immutable, so that it may be used from any thread.
public final class ADUserIdentifier: NSObject, NSCopying, Sendable {
    /// The name or id, without surrounding white space and in lower case; nil when it was blank.
    public let userId: String?
    /// How it is compared with who signed in.
    public let type: ADUserIdentifierType

    /// An identifier without a name, of the type `UniqueId`.
    public override init() {
        (userId, type) = (nil, UniqueId)
    }

    /// A name that who signs in has to have: `RequiredDisplayableId`. Never nil.
    public convenience init?(id userId: String) {
        self.init(id: userId, type: RequiredDisplayableId)
    }

    /// A name or id of `type`. Never nil.
    public init?(id userId: String, type: ADUserIdentifierType) {
        self.userId = ADUserInformation.normalizeUserId(userId)
        self.type = type
    }

    /// A name or id whose type is given by its name, such as `UniqueId`; any other word is `RequiredDisplayableId`.
    /// Never nil.
    public convenience init?(id userId: String, typeFrom type: String) {
        let named = Self.types.first { Self.string(for: $0) == type }
        self.init(id: userId, type: named ?? RequiredDisplayableId)
    }

    /// Whether `info` is who `identifier` asks for.
    ///
    /// Nobody in particular matches anyone, and so does `OptionalDisplayableId`; nobody at all matches only those.
    public class func identifier(_ identifier: ADUserIdentifier?, matchesInfo info: ADUserInformation?) -> Bool {
        guard let identifier, identifier.type != OptionalDisplayableId else { return true }
        guard let info else { return false }
        guard let match = identifier.userIdMatchString(info) else { return true }
        return match == identifier.userId
    }

    /// What of `info` to compare `userId` with; nil when any value will do.
    public func userIdMatchString(_ info: ADUserInformation) -> String? {
        switch type {
        case UniqueId: info.uniqueId
        case RequiredDisplayableId: info.userId
        default: nil
        }
    }

    /// The type's name, such as `RequiredDisplayableId`; nil for a number that has none.
    public func typeAsString() -> String? { Self.string(for: type) }

    /// The name of a type; nil for a number that has none.
    public class func string(for type: ADUserIdentifierType) -> String? {
        switch type {
        case UniqueId: "UniqueId"
        case OptionalDisplayableId: "OptionalDisplayableId"
        case RequiredDisplayableId: "RequiredDisplayableId"
        default: nil
        }
    }

    /// Whether `userId` is a name that people know, and so may fill in the sign-in page.
    public func isDisplayable() -> Bool { type == RequiredDisplayableId || type == OptionalDisplayableId }

    /// The object itself: it never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    private static let types = [UniqueId, OptionalDisplayableId, RequiredDisplayableId]
}

/// How an `ADUserIdentifier` is compared with who signed in.
public struct ADUserIdentifierType: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// With `ADUserInformation.uniqueId`, the object id in one tenant.
public var UniqueId: ADUserIdentifierType { ADUserIdentifierType(0) }

/// Not at all: the name only fills in the sign-in page.
public var OptionalDisplayableId: ADUserIdentifierType { ADUserIdentifierType(1) }

/// With `ADUserInformation.userId`, the name that people know.
public var RequiredDisplayableId: ADUserIdentifierType { ADUserIdentifierType(2) }
