internal import CompatSupport
public import Foundation
internal import Synchronization

/// The settings of the whole process. May be used from any thread.
open class MSALGlobalConfig: NSObject {
    private static let http = MSALHTTPConfig()
    private static let telemetry = MSALTelemetryConfig()
    private static let logger = MSALLoggerConfig()
    private static let switches = Mutex(Switches())

    private struct Switches {
        var brokerAvailability = MSALBrokeredAvailability.auto
        var requestsBoundRefreshTokens = false
    }

    /// The time limit of requests.
    open class var httpConfig: MSALHTTPConfig { http }

    /// Inert: stored and not used; nothing here reports telemetry.
    open class var telemetryConfig: MSALTelemetryConfig { telemetry }

    /// The log level and the log callback.
    open class var loggerConfig: MSALLoggerConfig { logger }

    /// Inert: stored and not used; there is no broker of Apple's here.
    open class var brokerAvailability: MSALBrokeredAvailability {
        get { switches.withLock { $0.brokerAvailability } }
        set { switches.withLock { $0.brokerAvailability = newValue } }
    }

    /// Inert: stored and not used; refresh tokens never leave the agent.
    open class var shouldRequestBoundAppRefreshTokens: Bool {
        get { switches.withLock { $0.requestsBoundRefreshTokens } }
        set { switches.withLock { $0.requestsBoundRefreshTokens = newValue } }
    }
}

/// The time limit of requests. May be used from any thread.
///
/// The agent sends the requests to the token endpoint, once for all apps that wait for the same answer. So the agent
/// decides about retries, and an app about the time it waits.
public final class MSALHTTPConfig: NSObject, Sendable {
    private let values = Mutex((retryCount: 1, retryInterval: 0.5, timeout: 300.0))

    /// The number of retries of a failed request: 1 by default. Stored and not used: the agent retries a discovery
    /// request once, and a token request only if it had no connection.
    public var retryCount: Int {
        get { values.withLock { $0.retryCount } }
        set { values.withLock { $0.retryCount = newValue } }
    }

    /// The time before a retry, in seconds: 0.5 by default. Stored and not used: the agent waits for 0.5 seconds.
    public var retryInterval: TimeInterval {
        get { values.withLock { $0.retryInterval } }
        set { values.withLock { $0.retryInterval = newValue } }
    }

    /// The time limit of a silent request, in seconds: 300 by default. A request that takes longer fails with
    /// `NSURLErrorTimedOut` (-1001) in `NSURLErrorDomain`. It is not that of a sign-in, which waits for the user.
    public var timeoutIntervalForRequest: TimeInterval {
        get { values.withLock { $0.timeout } }
        set { values.withLock { $0.timeout = newValue } }
    }

    override init() {}
}

/// The telemetry settings of MSAL. Inert: stored and not used, since nothing here reports telemetry.
public final class MSALTelemetryConfig: NSObject, Sendable {
    private let values = Mutex((pii: false, failuresOnly: false))
    private let callback = Mutex<AppCallback<MSALTelemetryCallback>?>(nil)

    /// Inert: stored and not used.
    public var piiEnabled: Bool {
        get { values.withLock { $0.pii } }
        set { values.withLock { $0.pii = newValue } }
    }

    /// Inert: stored and not used.
    public var notifyOnFailureOnly: Bool {
        get { values.withLock { $0.failuresOnly } }
        set { values.withLock { $0.failuresOnly = newValue } }
    }

    /// Inert: never called.
    public var telemetryCallback: MSALTelemetryCallback? {
        get { callback.withLock { $0 }?.function }
        set {
            let new = newValue.map(AppCallback.init)
            let former = callback.withLock { callback in
                defer { callback = new }
                return callback
            }
            // Released without the lock: what it holds may use these settings when it is released.
            _ = consume former
        }
    }

    override init() {}
}
