// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// The HTTP statuses that ADAL has a name for.
public struct HTTPStatusCodes: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Unauthorized (RFC 9110 section 15.5.2).
public var HTTP_UNAUTHORIZED: HTTPStatusCodes { HTTPStatusCodes(401) }
