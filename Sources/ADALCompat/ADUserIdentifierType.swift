// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

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
