internal import MSAL

// An MSAL app as it is written for Swift 6: its state belongs to the main actor, and most calls are async. The same app with
// completion blocks, NotesViewController, has warnings in Swift 6, as with the original library, and no errors.

/// The state that the views show.
@MainActor final class NotesModel {
    let application: MSALPublicClientApplication
    private(set) var accessToken = ""
    private(set) var username: String?
    private(set) var failure: String?

    init(_ application: MSALPublicClientApplication) { self.application = application }

    func load() async {
        do {
            let (account, _) = try await application.currentAccount(with: nil)
            guard let account else { return }
            username = account.username
            let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
            accessToken = try await application.acquireTokenSilent(with: parameters).accessToken
        } catch is CancellationError {
            // The view has disappeared.
        } catch let error as NSError where error.domain == MSALErrorDomain {
            failure = error.userInfo[MSALErrorDescriptionKey] as? String
        } catch {
            failure = error.localizedDescription
        }
    }

    func signIn() async throws {
        let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
        let parameters = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: webview)
        let result = try await application.acquireToken(with: parameters)
        (accessToken, username) = (result.accessToken, result.account.username)
    }

    func signOutEverywhere() async throws {
        for account in try await application.accountsFromDevice(for: MSALAccountEnumerationParameters()) {
            try await application.signout(with: account, signoutParameters: MSALSignoutParameters())
        }
        username = nil
    }

    /// Uses blocks that return to the main actor.
    func refresh(_ account: MSALAccount) {
        let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
        application.acquireTokenSilent(with: parameters) { [weak self] result, error in
            let outcome = result?.accessToken ?? error?.localizedDescription ?? ""
            Task { @MainActor in self?.accessToken = outcome }
        }
    }

    /// Uses a continuation around the block, as helpers written before the async forms do.
    func token(_ account: MSALAccount) async throws -> MSALResult {
        let parameters = MSALSilentTokenParameters(scopes: ["User.Read"], account: account)
        return try await withCheckedThrowingContinuation { continuation in
            application.acquireTokenSilent(with: parameters) { result, error in
                if let result {
                    continuation.resume(returning: result)
                } else {
                    continuation.resume(throwing: error ?? CancellationError())
                }
            }
        }
    }
}

/// A test double of an app.
final class ApplicationDouble: MSALPublicClientApplication {
    override func currentAccount(with parameters: MSALParameters?) async throws -> (MSALAccount?, MSALAccount?) {
        (MSALResult().account, nil)
    }

    override func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        TokenDouble()
    }

    override func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters,
        completionBlock: @escaping @Sendable (MSALResult?, (any Error)?) -> Void
    ) {
        completionBlock(TokenDouble(), nil)
    }
}

final class TokenDouble: MSALResult, @unchecked Sendable {
    override var accessToken: String { "a token" }
}
