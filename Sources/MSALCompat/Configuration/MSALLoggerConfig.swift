internal import CompatSupport
public import Foundation
internal import Synchronization

/// The log level and the log callback. May be used from any thread.
///
/// Messages contain neither tokens nor personal data, at any masking level.
public final class MSALLoggerConfig: NSObject, Sendable {
    private let levels = Mutex((log: MSALLogLevel.info, masking: MSALLogMaskingLevel.settingsMaskAllPII))
    private let appCallback = Mutex<AppCallback<MSALLogCallback>?>(nil)

    /// The level up to which messages are logged: `info` by default.
    public var logLevel: MSALLogLevel {
        get { levels.withLock { $0.log } }
        set { levels.withLock { $0.log = newValue } }
    }

    /// The data that is masked: all personal data by default. Stored and not used, because messages contain none.
    public var logMaskingLevel: MSALLogMaskingLevel {
        get { levels.withLock { $0.masking } }
        set { levels.withLock { $0.masking = newValue } }
    }

    /// Sets the closure that is called for each message. Only the first call has an effect.
    ///
    /// It is called later, on a queue of its own: for one message at a time, in their order. A process that ends at once may end before the
    /// last ones.
    public func setLogCallback(_ callback: @escaping MSALLogCallback) {
        let new = AppCallback(callback)
        appCallback.withLock { if $0 == nil { $0 = new } }
    }

    /// Returns the closure that is called for each message; one that does nothing if none was set.
    public func callback() -> MSALLogCallback {
        appCallback.withLock { $0 }?.function ?? { _, _, _ in }
    }

    override init() {}

    /// Passes `message` to the app if it is of a level that is logged. It must not contain secrets or personal data.
    func log(_ level: MSALLogLevel, _ message: @autoclosure () -> String) {
        guard level.rawValue <= logLevel.rawValue, let callback = appCallback.withLock({ $0 }) else { return }
        let message = message()
        LogQueue.call { callback.function(level, message, false) }
    }
}

/// The level up to which messages are logged.
@nonexhaustive(warn) public enum MSALLogLevel: Int, Sendable {
    /// Nothing.
    case nothing = 0
    /// Errors.
    case error = 1
    /// Also warnings.
    case warning = 2
    /// Also each request and its result.
    case info = 3
    /// Also all details.
    case verbose = 4

    /// The highest level, `verbose`.
    public static var last: MSALLogLevel { .verbose }
}

/// The data that is masked in log messages. Secrets and personal data are masked at every level here.
@nonexhaustive(warn) public enum MSALLogMaskingLevel: Int, Sendable {
    /// All personal data.
    case settingsMaskAllPII = 0
    /// Data that identifies the end user.
    case settingsMaskEUIIOnly = 1
    /// Secrets only.
    case settingsMaskSecretsOnly = 2
}
