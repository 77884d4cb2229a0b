/// Which way to authenticate the sign-in page should offer first. Inert: the page decides.
@nonexhaustive(warn) public enum MSALPreferredAuthMethod: UInt, Sendable {
    /// No preference.
    case none = 0
    /// QR code and PIN.
    case QRPIN = 1
}
