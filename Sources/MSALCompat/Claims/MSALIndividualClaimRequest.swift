public import Foundation

/// A claim to ask for. Two with the same name are equal: asking again replaces.
open class MSALIndividualClaimRequest: NSObject {
    /// The claim's name.
    open var name: String
    /// How it is asked for; nil: in the default way.
    open var additionalInfo: MSALIndividualClaimRequestAdditionalInfo?

    /// Asks for the claim `name`.
    public init(name: String) {
        self.name = name
    }

    /// Whether the names are the same.
    open override func isEqual(_ object: Any?) -> Bool {
        (object as? MSALIndividualClaimRequest)?.name == name
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { name.hashValue }
}
