public import Foundation

/// Information about an Apple device that is managed by an organisation. Inert: it is empty.
open class MSALDeviceInformation: NSObject {
    /// Always `default`: the device of one user.
    open var deviceMode: MSALDeviceMode { .default }
    /// Always `none`.
    open var configuredPreferredAuthMethod: MSALPreferredAuthMethod { .none }
    /// Always false.
    open var hasAADSSOExtension: Bool { false }
    /// Always empty.
    open var extraDeviceInformation: [AnyHashable: Any] { [:] }

    /// The device mode, for logs.
    open override var description: String { "Device mode \(deviceMode == .shared ? "shared" : "default")" }

    /// Creates empty information. Inert.
    public override init() {}
}

/// Whether a device has one user or several.
@nonexhaustive(warn) public enum MSALDeviceMode: UInt, Sendable {
    /// The device of one user.
    case `default` = 0
    /// A device that several users share.
    case shared = 1
}

/// The authentication method that the sign-in page should offer first.
@nonexhaustive(warn) public enum MSALPreferredAuthMethod: UInt, Sendable {
    /// No preference.
    case none = 0
    /// QR code and PIN.
    case QRPIN = 1
}

extension MSALPreferredAuthMethod {
    /// The value of Entra's `pc` parameter; nil sends none.
    var parameter: String? {
        switch self {
        case .none: nil
        case .QRPIN: "18"
        }
    }
}

/// Whether Apple's broker may be used. Inert: there is no such broker.
@nonexhaustive(warn) public enum MSALBrokeredAvailability: Int, Sendable {
    /// If there is one.
    case auto = 0
    /// Never.
    case none = 1
}
