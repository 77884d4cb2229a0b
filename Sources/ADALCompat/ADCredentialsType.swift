// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// Where the sign-in page is shown. There is one way here, the system browser, so that both values mean the same.
public struct ADCredentialsType: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Whatever is there.
public var AD_CREDENTIALS_AUTO: ADCredentialsType { ADCredentialsType(0) }

/// A web view in the app; here the system browser too.
public var AD_CREDENTIALS_EMBEDDED: ADCredentialsType { ADCredentialsType(1) }
