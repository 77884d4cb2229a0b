// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// Which version of SAML an assertion is written in.
public struct ADAssertionType: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// SAML 1.1 (`urn:ietf:params:oauth:grant-type:saml1_1-bearer`).
public var AD_SAML1_1: ADAssertionType { ADAssertionType(0) }

/// SAML 2.0 (RFC 7522).
public var AD_SAML2: ADAssertionType { ADAssertionType(1) }
