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
