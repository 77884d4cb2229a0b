internal import AgentClient
public import Foundation
internal import Synchronization

/// What is logged, and where to. May be used from any thread.
///
/// Messages never hold tokens or personal data, at any masking level.
public final class MSALLoggerConfig: NSObject, Sendable {
    private let levels = Mutex((log: MSALLogLevel.info, masking: MSALLogMaskingLevel.settingsMaskAllPII))
    private let appCallback = Mutex<AppCallback<MSALLogCallback>?>(nil)

    /// How much is logged: `info` unless set.
    public var logLevel: MSALLogLevel {
        get { levels.withLock { $0.log } }
        set { levels.withLock { $0.log = newValue } }
    }

    /// What is left out: all personal data unless set. Kept; messages here never hold any.
    public var logMaskingLevel: MSALLogMaskingLevel {
        get { levels.withLock { $0.masking } }
        set { levels.withLock { $0.masking = newValue } }
    }

    /// Sets what is called for each message, from any thread. The first call counts, later ones are ignored.
    public func setLogCallback(_ callback: @escaping MSALLogCallback) {
        let new = AppCallback(callback)
        appCallback.withLock { if $0 == nil { $0 = new } }
    }

    /// What is called for each message; does nothing when none was set.
    public func callback() -> MSALLogCallback {
        appCallback.withLock { $0 }?.function ?? { _, _, _ in }
    }

    override init() {}

    /// Hands `message` to the app when it wants messages of this level. It must not hold a secret or personal data.
    func log(_ level: MSALLogLevel, _ message: @autoclosure () -> String) {
        guard level.rawValue <= logLevel.rawValue, let callback = appCallback.withLock({ $0 }) else { return }
        callback.function(level, message(), false)
    }
}

/// How much is logged.
@nonexhaustive(warn) public enum MSALLogLevel: Int, Sendable {
    /// Nothing.
    case nothing = 0
    /// Failures.
    case error = 1
    /// Also what is suspicious.
    case warning = 2
    /// Also each request and its outcome.
    case info = 3
    /// Also the details.
    case verbose = 4

    /// The most talkative level, `verbose`.
    public static var last: MSALLogLevel { .verbose }
}

/// What is left out of log messages. This package masks secrets and personal data at every level.
@nonexhaustive(warn) public enum MSALLogMaskingLevel: Int, Sendable {
    /// All personal data.
    case settingsMaskAllPII = 0
    /// Data that identifies the end user.
    case settingsMaskEUIIOnly = 1
    /// Secrets only.
    case settingsMaskSecretsOnly = 2
}
