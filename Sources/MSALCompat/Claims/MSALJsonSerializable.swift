public import Foundation

/// Can be written as JSON.
public protocol MSALJsonSerializable: NSObjectProtocol {
    /// The object as JSON text; nil when that cannot be done.
    func jsonString() -> String?
}
