public import Foundation

/// A receiver of telemetry. Inert: nothing is collected, so that it is never called.
public protocol ADDispatcher: NSObjectProtocol {
    /// Would receive an event, as names and values.
    func dispatchEvent(_ event: [String: String])
}
