public import Foundation

/// Can be read from JSON.
public protocol MSALJsonDeserializable: NSObjectProtocol {
    /// Reads JSON text. When it cannot be read, `error` is set and the object is empty: check `error` before use.
    init(jsonString: String, error: NSErrorPointer)
}
