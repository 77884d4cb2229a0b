public import Foundation

/// How a claim is asked for (OpenID Connect Core 1.0 section 5.5.1).
open class MSALIndividualClaimRequestAdditionalInfo: NSObject {
    /// Whether the claim is essential: a Boolean.
    open var essential: NSNumber?
    /// The value it has to have: anything JSON knows.
    open var value: Any?
    /// The values it may have, best first.
    open var values: [Any]?

    /// Asks for nothing special.
    public override init() {}

    /// The members that are set.
    var json: [String: Any] {
        var json: [String: Any] = [:]
        json["essential"] = essential?.boolValue
        json["value"] = value
        json["values"] = values
        return json
    }
}
