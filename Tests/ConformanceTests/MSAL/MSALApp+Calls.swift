internal import Foundation
internal import TestSupport

@testable internal import MSALCompat

/// The calls that most tests make.
extension MSALPublicClientApplication {
    /// Signs a user in.
    @discardableResult
    func signIn(
        _ username: String, scopes: [String] = ["User.Read"],
        _ change: (MSALInteractiveTokenParameters) -> Void = { _ in }
    ) async throws -> MSALResult {
        let webview = MSALWebviewParameters(authPresentationViewController: await makeViewController())
        let parameters = MSALInteractiveTokenParameters(scopes: scopes, webviewParameters: webview)
        parameters.loginHint = username
        change(parameters)
        return try await acquireToken(with: parameters)
    }

    /// Gets a token silently.
    @discardableResult
    func token(
        _ account: MSALAccount, scopes: [String] = ["User.Read"],
        _ change: (MSALSilentTokenParameters) -> Void = { _ in }
    ) async throws -> MSALResult {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        change(parameters)
        return try await acquireTokenSilent(with: parameters)
    }

    /// Calls `allAccounts()`, which blocks, outside of the cooperative pool.
    func listed() async throws -> [MSALAccount] { try await offPool { try self.allAccounts() } }

    /// Calls `accounts(for:)` outside of the cooperative pool.
    func listed(_ parameters: MSALAccountEnumerationParameters) async throws -> [MSALAccount] {
        try await offPool { try self.accounts(for: parameters) }
    }

    /// Calls `account(forIdentifier:)` outside of the cooperative pool.
    func found(identifier: String) async throws -> MSALAccount {
        try await offPool { try self.account(forIdentifier: identifier) }
    }

    /// Calls `account(forUsername:)` outside of the cooperative pool.
    func found(username: String) async throws -> MSALAccount {
        try await offPool { try self.account(forUsername: username) }
    }

    /// The error of a silent request; nil if it succeeds.
    func refusal(
        _ account: MSALAccount, scopes: [String] = ["User.Read"],
        _ change: (MSALSilentTokenParameters) -> Void = { _ in }
    ) async -> NSError? {
        await failure { _ = try await self.token(account, scopes: scopes, change) }
    }

    /// Signs an account out, with the parameters of a sign-out that asks for nothing more.
    func signOut(_ account: MSALAccount, _ change: (MSALSignoutParameters) -> Void = { _ in }) async throws {
        let webview = MSALWebviewParameters(authPresentationViewController: await makeViewController())
        let parameters = MSALSignoutParameters(webviewParameters: webview)
        change(parameters)
        try await signout(with: account, signoutParameters: parameters)
    }
}

/// A view controller, which belongs to the main actor on Apple's systems.
@MainActor func makeViewController() -> sending UIViewController { UIViewController() }

/// Returns the error that `body` throws.
func failure(_ body: () async throws -> Void) async -> NSError? {
    do {
        try await body()
        return nil
    } catch {
        return error as NSError
    }
}

extension NSError {
    /// Whether it is `MSALError.interactionRequired`.
    var isInteractionRequired: Bool {
        domain == MSALErrorDomain && code == MSALError.interactionRequired.rawValue
    }

    /// The number under `MSALInternalErrorCodeKey`, of an error that is MSAL's `internal`.
    var internalCode: Int? {
        guard domain == MSALErrorDomain, code == MSALError.internal.rawValue else { return nil }
        return (userInfo[MSALInternalErrorCodeKey] as? NSNumber)?.intValue
    }
}
