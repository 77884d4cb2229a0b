public import Foundation
internal import TokenModel

/// Another source of accounts, which is notified of changes.
///
/// Its methods may be called from any thread. Add a provider by `MSALCacheConfig.addExternalAccountProvider(_:)`.
public protocol MSALExternalAccountProviding: NSObjectProtocol {
    /// Called after the token endpoint has issued a token for `account`, and not for a token from the cache. An error is logged and
    /// does not fail the request.
    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws

    /// Called after `account` was removed. An error fails the removal for the app, although the account is removed.
    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws

    /// Returns the accounts that match. An error is logged and counts as no accounts.
    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol]
}

/// The external account providers of an app.
///
/// Unchecked because the protocol that apps implement is not `Sendable`, while MSAL calls providers from the thread
/// that finishes a request: by the contract, a provider has to expect that.
struct ExternalAccounts: @unchecked Sendable {
    private let providers: [any MSALExternalAccountProviding]
    private let kind: Authority.Kind

    /// - Parameter kind: the kind of the application's authority.
    init(_ providers: [any MSALExternalAccountProviding], kind: Authority.Kind = .entra) {
        self.providers = providers
        self.kind = kind
    }

    var isEmpty: Bool { providers.isEmpty }

    /// Returns the accounts of the agent, followed by those that only providers have, without duplicates.
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

    /// Notifies every provider of a new token.
    func update(_ result: MSALResult) {
        for provider in providers {
            do {
                try provider.update(result.account, idTokenClaims: result.tenantProfile.claims ?? [:])
            } catch {
                MSALGlobalConfig.loggerConfig.log(.warning, "an external account provider failed to update")
            }
        }
    }

    /// Notifies every provider of a removed account.
    ///
    /// - Throws: the first error of a provider, after all have been notified; as an `NSError`, as every error of MSAL is.
    func remove(_ account: MSALAccount, wipeAccount: Bool) throws {
        var failure: NSError?
        for provider in providers {
            do {
                try provider.remove(account, wipeAccount: wipeAccount, tenantProfiles: account.tenantProfiles)
            } catch {
                MSALGlobalConfig.loggerConfig.log(.warning, "an external account provider failed to remove")
                failure = failure ?? error as NSError
            }
        }
        if let failure { throw failure }
    }

    private func found(by provider: any MSALExternalAccountProviding, filter: AccountFilter) -> [MSALAccount] {
        do {
            let found = try provider.accounts(with: MSALAccountEnumerationParameters(filter))
            return found.map { MSALAccount(external: $0, kind: kind) }
        } catch {
            MSALGlobalConfig.loggerConfig.log(.warning, "an external account provider failed to list its accounts")
            return []
        }
    }
}
