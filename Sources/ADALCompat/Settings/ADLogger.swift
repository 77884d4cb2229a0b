// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of the constants are those of C enumerations, as Swift imports them.

internal import AgentClient
public import Foundation
internal import Synchronization
internal import TokenModel

/// What is told of each line logged: the level, the message, more about it, an error code, and more still.
public typealias LogCallback = (ADAL_LOG_LEVEL, String, String?, Int, [AnyHashable: Any]?) -> Void

/// What is told of each line logged: the level, the message, and whether it names people.
public typealias ADLoggerCallback = (ADAL_LOG_LEVEL, String, Bool) -> Void

/// The library's log. Tokens are never logged; names of people only when `setPiiEnabled(true)` says so.
///
/// Process-wide and changeable at any time by ADAL's contract, which is why there is a lock. Safe to use from any thread.
public final class ADLogger: NSObject {
    static let state = Mutex(State())

    /// A logger without state of its own: all methods are the class's.
    public override init() {}

    /// Sets how much is logged; errors only unless set.
    public class func setLevel(_ logLevel: ADAL_LOG_LEVEL) { state.withLock { $0.level = logLevel } }

    /// How much is logged.
    public class func getLevel() -> ADAL_LOG_LEVEL { state.withLock { $0.level } }

    /// Sets whether lines that name people are logged; false unless set.
    public class func setPiiEnabled(_ piiEnabled: Bool) { state.withLock { $0.isPiiEnabled = piiEnabled } }

    /// Whether lines that name people are logged.
    public class func getPiiEnabled() -> Bool { state.withLock { $0.isPiiEnabled } }

    /// Sets who is told of each line while no `ADLoggerCallback` is set; nil for nobody. Called from any thread.
    ///
    /// A line that names people comes as the message "PII message", with its text as the second.
    @available(*, deprecated, message: "Use the setLoggerCallback: method instead.")
    public class func setLogCallBack(_ callback: LogCallback?) {
        let callback = callback.map(AppCallback.init)
        state.withLock { $0.oldCallback = callback }
    }

    /// Sets who is told of each line, instead of a `LogCallback`; nil for nobody. Called from any thread.
    public class func setLoggerCallback(_ callback: ADLoggerCallback?) {
        let callback = callback.map(AppCallback.init)
        state.withLock { $0.callback = callback }
    }

    /// Sets whether lines that name nobody go to standard error too; true unless set.
    public class func setNSLogging(_ nslogging: Bool) { state.withLock { $0.isWritten = nslogging } }

    /// Whether lines that name nobody go to standard error too.
    public class func getNSLogging() -> Bool { state.withLock { $0.isWritten } }

    struct State {
        var level = ADAL_LOG_LEVEL_ERROR
        var isPiiEnabled = false
        var isWritten = true
        var callback: AppCallback<ADLoggerCallback>?
        var oldCallback: AppCallback<LogCallback>?

        /// Calls one callback at most, the newer kind first, as ADAL does.
        func callBack(_ level: ADAL_LOG_LEVEL, _ message: String, isPii: Bool, code: Int) {
            if let callback {
                callback.function(level, message, isPii)
            } else if let oldCallback {
                oldCallback.function(level, isPii ? "PII message" : message, isPii ? message : nil, code, nil)
            }
        }
    }
}

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

/// The log lines of one request.
struct ADLog: Sendable {
    let component: String?
    let correlationID: CorrelationID

    func began(_ request: TokenAcquisition) {
        let kind = request.prompt == nil && request.grant == nil ? "acquireTokenSilent" : "acquireToken"
        write(ADAL_LOG_LEVEL_INFO, "\(kind) began")
        let target = request.target
        write(
            ADAL_LOG_LEVEL_INFO, isPii: true,
            "\(kind) of \(request.identifier?.userId ?? "whoever is signed in") for \(target.resource)")
    }

    func succeeded(_ token: TokenResult) {
        write(ADAL_LOG_LEVEL_INFO, "succeeded, \(token.isFromCache ? "from the cache" : "redeemed")")
    }

    /// Logs the redirect URI of a sign-in page, which has to be registered with the identity provider.
    func opens(_ redirect: BrowserRedirect) {
        write(redirect.replaced == nil ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_WARN, redirect.notice)
    }

    func failed(_ error: ADAuthenticationError) {
        let server = error.protocolCode.map { ", \($0)" } ?? ""
        // A person who has to sign in, or would not, is no fault.
        let isExpected = error.isCancellation || error.invitesInteraction
        let level = isExpected ? ADAL_LOG_LEVEL_INFO : ADAL_LOG_LEVEL_ERROR
        write(level, "failed: \(error.domain) \(error.code)\(server)", code: error.code)
    }

    private func write(_ level: ADAL_LOG_LEVEL, isPii: Bool = false, _ text: String, code: Int = 0) {
        let state = ADLogger.state.withLock { $0 }
        guard level.rawValue <= state.level.rawValue, !isPii || state.isPiiEnabled else { return }
        let message = "ADAL [\(correlationID)]\(component.map { " \($0)" } ?? "") \(text)"
        // Called outside the lock: a callback may change the settings it is called by.
        state.callBack(level, message, isPii: isPii, code: code)
        if state.isWritten, !isPii { NSLog("%@", message) }
    }
}
