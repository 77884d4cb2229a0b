public import Foundation
internal import Synchronization

/// What telemetry would be reported. Inert: kept and not used, since nothing here reports telemetry.
public final class MSALTelemetryConfig: NSObject, Sendable {
    private let values = Mutex((pii: false, failuresOnly: false))
    private let callback = Mutex(CallbackBox<MSALTelemetryCallback>(nil))

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
        get { callback.withLock { $0 }.callback }
        set {
            let box = CallbackBox(newValue)
            callback.withLock { $0 = box }
        }
    }

    override init() {}
}
