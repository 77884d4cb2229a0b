public import Foundation

/// Query parameters that choose a test slice of Microsoft's service.
open class MSALSliceConfig: NSObject, NSCopying {
    /// The `slice` parameter.
    open var slice: String
    /// The `dc` parameter.
    open var dc: String

    /// Nil when both are missing.
    public init?(slice: String?, dc: String?) {
        guard slice != nil || dc != nil else { return nil }
        self.slice = slice ?? ""
        self.dc = dc ?? ""
    }

    /// The parameters; blank ones are left out.
    open var sliceDictionary: [AnyHashable: Any] { parameters }

    var parameters: [String: String] {
        ["slice": slice, "dc": dc].filter { !$0.value.isEmpty }
    }

    /// A copy with the same members.
    open func copy(with zone: NSZone? = nil) -> Any { MSALSliceConfig(slice: slice, dc: dc) ?? self }
}
