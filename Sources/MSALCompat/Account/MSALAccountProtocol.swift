public import Foundation

/// What identifies an account, and what is known of it. `MSALAccount` is one; external account providers bring others.
public protocol MSALAccountProtocol: NSObjectProtocol {
    /// The name people know it by; may change and is no key.
    var username: String? { get }
    /// What identifies it in every tenant; the same as ADAL's `homeAccountId`.
    var identifier: String? { get }
    /// The host it was saved under.
    var environment: String { get }
    /// The claims of the ID token that this app was issued in the account's home tenant.
    var accountClaims: [String: Any]? { get }
    /// The account as each tenant sees it; nil on the account of an `MSALResult`.
    var tenantProfiles: [MSALTenantProfile]? { get }
    /// The identifier and its parts.
    var homeAccountId: MSALAccountId? { get }
    /// Whether an SSO extension of Apple's vouches for it.
    var isSSOAccount: Bool { get }
}
