/// Whether Apple's broker may be used. Inert: there is no such broker.
@nonexhaustive(warn) public enum MSALBrokeredAvailability: Int, Sendable {
    /// Where there is one.
    case auto = 0
    /// Never.
    case none = 1
}
