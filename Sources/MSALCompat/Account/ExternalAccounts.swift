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

/// The app's external account providers.
///
/// Unchecked because the protocol that apps implement is not `Sendable`, while MSAL has always called its providers
/// from whatever thread finished a request: being safe for that is part of what a provider promises.
struct ExternalAccounts: @unchecked Sendable {
    private let providers: [any MSALExternalAccountProviding]

    init(_ providers: [any MSALExternalAccountProviding]) {
        self.providers = providers
    }

    /// The agent's accounts, then those that only providers know; one of each.
    func merged(_ accounts: [MSALAccount], filter: AccountFilter) -> [MSALAccount] {
        guard !providers.isEmpty else { return accounts }
        var merged = accounts
        for provider in providers {
            for account in found(by: provider, filter: filter) {
                if let index = merged.firstIndex(where: { $0.isEqual(account) }) {
                    merged[index] = MSALAccount(merged[index], merging: account)
                } else {
                    merged.append(account)
                }
            }
        }
        return merged
    }

    /// Tells every provider that a token was acquired.
    func update(_ result: MSALResult) {
        for provider in providers {
            do {
                try provider.update(result.account, idTokenClaims: result.tenantProfile.claims ?? [:])
            } catch {
                MSALGlobalConfig.loggerConfig.log(.warning, "an external account provider failed to update")
            }
        }
    }

    /// Tells every provider that an account was removed.
    ///
    /// - Throws: the first error of a provider, after all were told.
    func remove(_ account: MSALAccount, wipeAccount: Bool) throws {
        var failure: (any Error)?
        for provider in providers {
            do {
                try provider.remove(account, wipeAccount: wipeAccount, tenantProfiles: account.tenantProfiles)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func found(by provider: any MSALExternalAccountProviding, filter: AccountFilter) -> [MSALAccount] {
        do {
            let found = try provider.accounts(with: MSALAccountEnumerationParameters(filter))
            return found.map { MSALAccount(external: $0) }
        } catch {
            MSALGlobalConfig.loggerConfig.log(.warning, "an external account provider failed to list its accounts")
            return []
        }
    }
}
