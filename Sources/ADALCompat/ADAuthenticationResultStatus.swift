// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// How an acquisition ended.
public struct ADAuthenticationResultStatus: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// There is an access token.
public var AD_SUCCEEDED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(0) }

/// The person, or the app, gave the sign-in up; the error's code is `ERROR_UI_USER_CANCEL` (403).
public var AD_USER_CANCELLED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(1) }

/// There is an error.
public var AD_FAILED: ADAuthenticationResultStatus { ADAuthenticationResultStatus(2) }
