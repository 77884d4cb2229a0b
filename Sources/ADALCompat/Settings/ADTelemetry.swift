public import Foundation
internal import Synchronization

/// The telemetry settings of ADAL. Inert: nothing is collected or sent. May be used from any thread.
public final class ADTelemetry: NSObject, Sendable {
    private static let shared = ADTelemetry()
    // Behind a lock because ADAL lets apps change it at any time.
    private let isPiiEnabled = Mutex(false)

    private override init() {}

    /// The only instance.
    public class func sharedInstance() -> ADTelemetry { shared }

    /// Inert: stored, and not used; false by default.
    public var piiEnabled: Bool {
        get { isPiiEnabled.withLock { $0 } }
        set { isPiiEnabled.withLock { $0 = newValue } }
    }

    /// Inert: the dispatcher is not stored.
    public func add(_ dispatcher: any ADDispatcher, aggregationRequired: Bool) {}

    /// Inert: no dispatcher is stored.
    public func remove(_ dispatcher: any ADDispatcher) {}

    /// Inert: no dispatcher is stored.
    public func removeAllDispatchers() {}
}

/// Receives telemetry events. Inert: never called.
public protocol ADDispatcher: NSObjectProtocol {
    /// Receives an event as names and values. Inert: never called.
    func dispatchEvent(_ event: [String: String])
}
