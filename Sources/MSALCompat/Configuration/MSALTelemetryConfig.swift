public import Foundation
internal import Synchronization

/// What telemetry would be reported. Kept and not used: nothing here reports telemetry.
public final class MSALTelemetryConfig: NSObject, Sendable {
    private let values = Mutex((pii: false, failuresOnly: false))
    private let callback = Mutex(CallbackBox<MSALTelemetryCallback>(nil))

    /// Does nothing.
    public var piiEnabled: Bool {
        get { values.withLock { $0.pii } }
        set { values.withLock { $0.pii = newValue } }
    }

    /// Does nothing.
    public var notifyOnFailureOnly: Bool {
        get { values.withLock { $0.failuresOnly } }
        set { values.withLock { $0.failuresOnly = newValue } }
    }

    /// Is never called.
    public var telemetryCallback: MSALTelemetryCallback? {
        get { callback.withLock { $0 }.callback }
        set {
            let box = CallbackBox(newValue)
            callback.withLock { $0 = box }
        }
    }

    override init() {}
}
