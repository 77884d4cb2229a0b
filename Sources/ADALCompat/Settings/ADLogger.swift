// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

internal import CompatSupport
public import Foundation
internal import Synchronization
internal import TokenModel

/// Called for each log line, with its level, the message, additional text, an error code, and additional values.
public typealias LogCallback = (ADAL_LOG_LEVEL, String, String?, Int, [AnyHashable: Any]?) -> Void

/// Called for each log line, with its level, the message, and whether it contains personal data.
public typealias ADLoggerCallback = (ADAL_LOG_LEVEL, String, Bool) -> Void

/// The log of the library. Tokens are never logged; usernames only after `setPiiEnabled(true)`.
///
/// The settings are behind a lock because ADAL lets apps change them at any time, for the whole process. Their defaults are those of ADAL
/// 2.7.18, whose header still documents those of 2.6. May be used from any thread.
public final class ADLogger: NSObject {
    static let state = Mutex(State())

    /// Creates a logger without state: all settings are those of the class.
    public override init() {}

    /// Sets the level up to which lines are logged; `ADAL_LOG_LEVEL_INFO` by default.
    public class func setLevel(_ logLevel: ADAL_LOG_LEVEL) { state.withLock { $0.level = logLevel } }

    /// The level up to which lines are logged.
    public class func getLevel() -> ADAL_LOG_LEVEL { state.withLock { $0.level } }

    /// Sets whether lines with personal data are logged; false by default.
    public class func setPiiEnabled(_ piiEnabled: Bool) { state.withLock { $0.isPiiEnabled = piiEnabled } }

    /// Whether lines with personal data are logged.
    public class func getPiiEnabled() -> Bool { state.withLock { $0.isPiiEnabled } }

    /// Sets the closure that is called for each line while no `ADLoggerCallback` is set; nil for none. It is called as that of
    /// `setLoggerCallback(_:)`.
    ///
    /// A line with personal data has the message "PII message", and its text as the additional text.
    @available(*, deprecated, message: "Use the setLoggerCallback: method instead.")
    public class func setLogCallBack(_ callback: LogCallback?) {
        let callback = callback.map(AppCallback.init)
        let former = state.withLock { state in
            defer { state.oldCallback = callback }
            return state.oldCallback
        }
        // Released without the lock: what it holds may use the log when it is released.
        _ = consume former
    }

    /// Sets the closure that is called for each line, instead of a `LogCallback`; nil for none.
    ///
    /// It is called later, on a queue of its own: for one line at a time, in their order. A process that ends at once may end before the last
    /// ones.
    public class func setLoggerCallback(_ callback: ADLoggerCallback?) {
        let callback = callback.map(AppCallback.init)
        let former = state.withLock { state in
            defer { state.callback = callback }
            return state.callback
        }
        // Released without the lock, for the same reason.
        _ = consume former
    }

    /// Sets whether lines without personal data are written to standard error too; false by default.
    public class func setNSLogging(_ nslogging: Bool) { state.withLock { $0.isWritten = nslogging } }

    /// Whether lines without personal data are written to standard error too.
    public class func getNSLogging() -> Bool { state.withLock { $0.isWritten } }

    struct State {
        var level = ADAL_LOG_LEVEL_INFO
        var isPiiEnabled = false
        var isWritten = false
        var callback: AppCallback<ADLoggerCallback>?
        var oldCallback: AppCallback<LogCallback>?

        /// Whether a line is logged, and passed to a callback or written to standard error.
        func includes(_ level: ADAL_LOG_LEVEL, isPii: Bool) -> Bool {
            guard level.rawValue <= self.level.rawValue, !isPii || isPiiEnabled else { return false }
            return hasCallback || isWritten && !isPii
        }

        var hasCallback: Bool { callback != nil || oldCallback != nil }

        /// Calls one closure at most, that of the newer kind if both are set, as ADAL does.
        func callBack(_ level: ADAL_LOG_LEVEL, _ message: String, isPii: Bool, code: Int) {
            if let callback {
                callback.function(level, message, isPii)
            } else if let oldCallback {
                oldCallback.function(level, isPii ? "PII message" : message, isPii ? message : nil, code, nil)
            }
        }
    }
}

/// The level up to which lines are logged.
public struct ADAL_LOG_LEVEL: Hashable, RawRepresentable, Sendable {
    /// The number in the C enumeration.
    public var rawValue: UInt32

    /// Creates the value with this number.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the value with this number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Nothing.
public var ADAL_LOG_LEVEL_NO_LOG: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(0) }

/// Errors.
public var ADAL_LOG_LEVEL_ERROR: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(1) }

/// Also warnings.
public var ADAL_LOG_LEVEL_WARN: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(2) }

/// Also the start and the end of each request; the default.
public var ADAL_LOG_LEVEL_INFO: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(3) }

/// Also all other lines.
public var ADAL_LOG_LEVEL_VERBOSE: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(4) }

/// The highest level.
public var ADAL_LOG_LAST: ADAL_LOG_LEVEL { ADAL_LOG_LEVEL(4) }

/// Writes the log lines of one request.
struct ADLog: Sendable {
    let component: String?
    let correlationID: CorrelationID

    func logStart(_ request: TokenAcquisition) {
        let kind = request.prompt == nil && request.grant == nil ? "acquireTokenSilent" : "acquireToken"
        write(ADAL_LOG_LEVEL_INFO, "\(kind) began")
        let target = request.target
        write(
            ADAL_LOG_LEVEL_INFO, isPii: true,
            "\(kind) of \(request.identifier?.userId ?? "the only account") for \(target.resource)")
    }

    func logSuccess(_ token: TokenResult) {
        write(ADAL_LOG_LEVEL_INFO, "succeeded, \(token.isFromCache ? "from the cache" : "redeemed")")
    }

    /// Logs the redirect URI of a sign-in, which has to be registered with the identity provider.
    func logRedirect(_ redirect: BrowserRedirect) {
        write(redirect.replaced == nil ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_WARN, redirect.notice)
    }

    func logFailure(_ error: ADAuthenticationError) {
        let server = error.protocolCode.map { ", \($0)" } ?? ""
        // Neither a required sign-in nor a cancelled one is a failure of the app.
        let isExpected = error.isCancellation || error.invitesInteraction
        let level = isExpected ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_ERROR
        write(level, "failed: \(error.domain) \(error.code)\(server)", code: error.code)
    }

    /// - Parameter text: computed only if the line is logged.
    private func write(_ level: ADAL_LOG_LEVEL, isPii: Bool = false, _ text: @autoclosure () -> String, code: Int = 0) {
        let settings = ADLogger.state.withLock { $0.includes(level, isPii: isPii) ? $0 : nil }
        guard let settings else { return }
        let message = "ADAL [\(correlationID)]\(component.map { " \($0)" } ?? "") \(text())"
        if settings.hasCallback {
            LogQueue.call {
                // The closure that is set now, so that none is called after it has been replaced. Called without the lock, because a callback
                // may change the settings.
                ADLogger.state.withLock { $0 }.callBack(level, message, isPii: isPii, code: code)
            }
        }
        if settings.isWritten, !isPii { NSLog("%@", message) }
    }
}
