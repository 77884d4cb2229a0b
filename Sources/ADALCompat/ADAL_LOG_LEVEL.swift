// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are the C enumeration's, as Swift imports them.

/// How much the library logs: everything up to and including the level.
public struct ADAL_LOG_LEVEL: Hashable, RawRepresentable, Sendable {
    /// The number of the C enumeration.
    public var rawValue: UInt32

    /// The value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// The value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Nothing.
public var ADAL_LOG_LEVEL_NO_LOG: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(0) }

/// What failed; the default.
public var ADAL_LOG_LEVEL_ERROR: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(1) }

/// And what is suspicious.
public var ADAL_LOG_LEVEL_WARN: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(2) }

/// And the beginning and end of each acquisition.
public var ADAL_LOG_LEVEL_INFO: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(3) }

/// And everything else.
public var ADAL_LOG_LEVEL_VERBOSE: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(4) }

/// The last of the levels.
public var ADAL_LOG_LAST: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(4) }
