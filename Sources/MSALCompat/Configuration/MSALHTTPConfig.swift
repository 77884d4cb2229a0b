public import Foundation
internal import Synchronization

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
