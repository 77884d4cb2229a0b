public import Foundation

/// Another place that keeps accounts, and wants to hear of what happens to them.
///
/// Its methods are called from any thread. Add one with `MSALCacheConfig.addExternalAccountProvider(_:)`.
public protocol MSALExternalAccountProviding: NSObjectProtocol {
    /// A token was acquired for `account`. Errors are logged and do not fail the request.
    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws

    /// `account` was removed. An error fails the removal, which is done nevertheless.
    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws

    /// The accounts that fit. Errors are logged and count as no accounts.
    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol]
}
