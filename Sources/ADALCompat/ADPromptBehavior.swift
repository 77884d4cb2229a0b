// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// When `acquireToken` shows the sign-in page.
public struct ADPromptBehavior: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Only when neither a cached access token nor a refresh token helps.
public var AD_PROMPT_AUTO: ADPromptBehavior { ADPromptBehavior(0) }

/// Always, and the person types the password again: `prompt=login`.
public var AD_PROMPT_ALWAYS: ADPromptBehavior { ADPromptBehavior(1) }

/// Always, so that the browser's session is renewed: `prompt=refresh_session`.
public var AD_PROMPT_REFRESH_SESSION: ADPromptBehavior { ADPromptBehavior(2) }

/// Always, as `AD_PROMPT_ALWAYS`: `prompt=login`.
public var AD_FORCE_PROMPT: ADPromptBehavior { ADPromptBehavior(3) }
