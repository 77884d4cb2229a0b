public import Foundation
internal import Synchronization

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
        let callback = callback.map(Unchecked.init)
        state.withLock { $0.oldCallback = callback }
    }

    /// Sets who is told of each line, instead of a `LogCallback`; nil for nobody. Called from any thread.
    public class func setLoggerCallback(_ callback: ADLoggerCallback?) {
        let callback = callback.map(Unchecked.init)
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
        var callback: Unchecked<ADLoggerCallback>?
        var oldCallback: Unchecked<LogCallback>?

        /// Calls one callback at most, the newer kind first, as ADAL does.
        func callBack(_ level: ADAL_LOG_LEVEL, _ message: String, isPii: Bool, code: Int) {
            if let callback {
                callback.value(level, message, isPii)
            } else if let oldCallback {
                oldCallback.value(level, isPii ? "PII message" : message, isPii ? message : nil, code, nil)
            }
        }
    }

    /// A closure that ADAL's contract lets be called from any thread, although its type does not say so.
    struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }
}
