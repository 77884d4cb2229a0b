/// Called once with a result or an error.
public typealias MSALCompletionBlock = (MSALResult?, (any Error)?) -> Void

/// Called once with accounts, perhaps none, or an error.
public typealias MSALAccountsCompletionBlock = ([MSALAccount]?, (any Error)?) -> Void

/// Called once with the current account, the one before it, and an error.
public typealias MSALCurrentAccountCompletionBlock = (MSALAccount?, MSALAccount?, (any Error)?) -> Void

/// Called once with whether the account was signed out, and an error when not.
public typealias MSALSignoutCompletionBlock = (Bool, (any Error)?) -> Void

/// Called once with what is known of the device. Inert: here that is nothing.
public typealias MSALDeviceInformationCompletionBlock = (MSALDeviceInformation?, (any Error)?) -> Void

/// Called for each log message: its level, its text, and whether it may contain personal data (never, here).
public typealias MSALLogCallback = (MSALLogLevel, String?, Bool) -> Void

/// Called with telemetry events on Apple's platforms. Inert: never called.
public typealias MSALTelemetryCallback = ([String: String]) -> Void
