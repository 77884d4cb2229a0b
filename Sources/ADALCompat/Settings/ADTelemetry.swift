public import Foundation
internal import Synchronization

/// Telemetry. Inert: nothing is collected, and nothing leaves the process. Safe to use from any thread.
public final class ADTelemetry: NSObject, Sendable {
    private static let shared = ADTelemetry()
    // Locked because ADAL's contract lets anyone set it at any time.
    private let isPiiEnabled = Mutex(false)

    private override init() {}

    /// The one instance.
    public class func sharedInstance() -> ADTelemetry { shared }

    /// Inert: keeps its value; false unless set.
    public var piiEnabled: Bool {
        get { isPiiEnabled.withLock { $0 } }
        set { isPiiEnabled.withLock { $0 = newValue } }
    }

    /// Inert: the dispatcher is not kept.
    public func add(_ dispatcher: any ADDispatcher, aggregationRequired: Bool) {}

    /// Inert.
    public func remove(_ dispatcher: any ADDispatcher) {}

    /// Inert.
    public func removeAllDispatchers() {}
}

/// A receiver of telemetry. Inert: nothing is collected, so that it is never called.
public protocol ADDispatcher: NSObjectProtocol {
    /// Would receive an event, as names and values.
    func dispatchEvent(_ event: [String: String])
}
