internal import AgentClient
public import Foundation
internal import Synchronization

/// What holds for the whole process. May be used from any thread.
open class MSALGlobalConfig: NSObject {
    private static let http = MSALHTTPConfig()
    private static let telemetry = MSALTelemetryConfig()
    private static let logger = MSALLoggerConfig()
    private static let switches = Mutex(Switches())

    private struct Switches {
        var brokerAvailability = MSALBrokeredAvailability.auto
        var requestsBoundRefreshTokens = false
    }

    /// How long requests may take.
    open class var httpConfig: MSALHTTPConfig { http }

    /// Inert: kept and not used; nothing here reports telemetry.
    open class var telemetryConfig: MSALTelemetryConfig { telemetry }

    /// What is logged, and where to.
    open class var loggerConfig: MSALLoggerConfig { logger }

    /// Inert: kept and not used; Apple's broker is not here.
    open class var brokerAvailability: MSALBrokeredAvailability {
        get { switches.withLock { $0.brokerAvailability } }
        set { switches.withLock { $0.brokerAvailability = newValue } }
    }

    /// Inert: kept and not used; refresh tokens never leave the agent.
    open class var shouldRequestBoundAppRefreshTokens: Bool {
        get { switches.withLock { $0.requestsBoundRefreshTokens } }
        set { switches.withLock { $0.requestsBoundRefreshTokens = newValue } }
    }
}

/// How long requests may take. May be used from any thread.
///
/// The agent, not the app, talks to the token endpoint, once for all apps that wait for the same answer. So retries are
/// the agent's to decide; an app decides how long it waits.
public final class MSALHTTPConfig: NSObject, Sendable {
    private let values = Mutex((retryCount: 1, retryInterval: 0.5, timeout: 300.0))

    /// How often a failed request is repeated: 1 unless set. Kept and not used: the agent repeats once.
    public var retryCount: Int {
        get { values.withLock { $0.retryCount } }
        set { values.withLock { $0.retryCount = newValue } }
    }

    /// How long to wait before that, in seconds: 0.5 unless set. Kept and not used: the agent waits as long.
    public var retryInterval: TimeInterval {
        get { values.withLock { $0.retryInterval } }
        set { values.withLock { $0.retryInterval = newValue } }
    }

    /// How long a silent request may take, in seconds: 300 unless set. A request that takes longer fails with
    /// `NSURLErrorTimedOut` (-1001) in `NSURLErrorDomain`.
    public var timeoutIntervalForRequest: TimeInterval {
        get { values.withLock { $0.timeout } }
        set { values.withLock { $0.timeout = newValue } }
    }

    override init() {}
}

/// What telemetry would be reported. Inert: kept and not used, since nothing here reports telemetry.
public final class MSALTelemetryConfig: NSObject, Sendable {
    private let values = Mutex((pii: false, failuresOnly: false))
    private let callback = Mutex<AppCallback<MSALTelemetryCallback>?>(nil)

    /// Inert: kept and not used.
    public var piiEnabled: Bool {
        get { values.withLock { $0.pii } }
        set { values.withLock { $0.pii = newValue } }
    }

    /// Inert: kept and not used.
    public var notifyOnFailureOnly: Bool {
        get { values.withLock { $0.failuresOnly } }
        set { values.withLock { $0.failuresOnly = newValue } }
    }

    /// Inert: is never called.
    public var telemetryCallback: MSALTelemetryCallback? {
        get { callback.withLock { $0 }?.function }
        set {
            let new = newValue.map(AppCallback.init)
            callback.withLock { $0 = new }
        }
    }

    override init() {}
}
