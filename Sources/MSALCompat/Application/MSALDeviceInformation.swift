public import Foundation

/// What MSAL knows of a managed Apple device. Inert: here that is nothing.
open class MSALDeviceInformation: NSObject {
    /// Always one person's.
    open var deviceMode: MSALDeviceMode { .default }
    /// Always without preference.
    open var configuredPreferredAuthMethod: MSALPreferredAuthMethod { .none }
    /// Always false.
    open var hasAADSSOExtension: Bool { false }
    /// Always empty.
    open var extraDeviceInformation: [AnyHashable: Any] { [:] }

    /// What is known here: nothing. Inert.
    public override init() {}
}

/// Whether a device belongs to one person or to several.
@nonexhaustive(warn) public enum MSALDeviceMode: UInt, Sendable {
    /// One person's.
    case `default` = 0
    /// Shared by several.
    case shared = 1
}

/// Which way to authenticate the sign-in page should offer first. Inert: the page decides.
@nonexhaustive(warn) public enum MSALPreferredAuthMethod: UInt, Sendable {
    /// No preference.
    case none = 0
    /// QR code and PIN.
    case QRPIN = 1
}

/// Whether Apple's broker may be used. Inert: there is no such broker.
@nonexhaustive(warn) public enum MSALBrokeredAvailability: Int, Sendable {
    /// Where there is one.
    case auto = 0
    /// Never.
    case none = 1
}
