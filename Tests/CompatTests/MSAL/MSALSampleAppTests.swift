internal import MSALCompat
internal import TestSupport
internal import Testing

// App code in the style of Microsoft's samples: a view controller with closures, and a store with async methods.
// It is compiled as an app compiles it, without `@testable`, and with Foundation's names through the module alone.

/// A view controller that signs in and calls an API.
final class SampleViewController: UIViewController {
    let kClientID = "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa"
    let kScopes: [String] = ["user.read"]
    let kAuthority = "https://login.microsoftonline.com/common"

    var applicationContext: MSALPublicClientApplication?
    var webViewParameters: MSALWebviewParameters?
    var currentAccount: MSALAccount?

    func initMSAL() throws {
        guard let authorityURL = URL(string: kAuthority) else { return }
        let authority = try MSALAADAuthority(url: authorityURL)
        let msalConfiguration = MSALPublicClientApplicationConfig(
            clientId: kClientID, redirectUri: nil, authority: authority)
        msalConfiguration.knownAuthorities = [authority]
        msalConfiguration.clientApplicationCapabilities = ["ProtApp"]
        self.applicationContext = try MSALPublicClientApplication(configuration: msalConfiguration)
        self.webViewParameters = MSALWebviewParameters(authPresentationViewController: self)
        self.webViewParameters?.webviewType = .default
    }

    func loadCurrentAccount() -> MSALAccount? {
        guard let applicationContext = self.applicationContext else { return nil }
        let accounts = try? applicationContext.allAccounts()
        return accounts?.first ?? (try? applicationContext.account(forUsername: "anna@contoso.com"))
    }

    func acquireTokenInteractively(completion: @escaping @Sendable (String?) -> Void) {
        guard let applicationContext = self.applicationContext, let webViewParameters = self.webViewParameters else {
            return
        }
        let parameters = MSALInteractiveTokenParameters(scopes: kScopes, webviewParameters: webViewParameters)
        parameters.promptType = .selectAccount
        parameters.completionBlockQueue = DispatchQueue.global()
        applicationContext.acquireToken(with: parameters) { (result, error) in
            if let error = error as NSError? {
                completion("\(error.domain) \(error.code)")
                return
            }
            guard let result = result else { return completion(nil) }
            completion(result.account.username ?? result.accessToken)
        }
    }

    func acquireTokenSilently(_ account: MSALAccount, completion: @escaping @Sendable (MSALError?) -> Void) {
        let parameters = MSALSilentTokenParameters(scopes: kScopes, account: account)
        applicationContext?.acquireTokenSilent(with: parameters) { (result, error) in
            guard let nsError = error as NSError? else { return completion(nil) }
            if nsError.domain == MSALErrorDomain, nsError.code == MSALError.interactionRequired.rawValue {
                return completion(.interactionRequired)
            }
            if let declined = nsError.userInfo[MSALDeclinedScopesKey] as? [String], !declined.isEmpty {
                return completion(.serverDeclinedScopes)
            }
            completion(MSALError(rawValue: nsError.code))
        }
    }

    func signOut(_ account: MSALAccount, completion: @escaping @Sendable (Bool) -> Void) {
        guard let webViewParameters = self.webViewParameters else { return }
        let signoutParameters = MSALSignoutParameters(webviewParameters: webViewParameters)
        signoutParameters.signoutFromBrowser = false
        signoutParameters.completionBlockQueue = .global()
        applicationContext?.signout(with: account, signoutParameters: signoutParameters) { success, _ in
            completion(success)
        }
    }
}

/// The async style, on the main actor.
@MainActor final class SampleTokenStore {
    let application: MSALPublicClientApplication

    init() throws {
        MSALGlobalConfig.loggerConfig.logLevel = .warning
        application = try MSALPublicClientApplication(clientId: "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa")
    }

    func token(for identifier: String) async throws -> String {
        let account = try application.account(forIdentifier: identifier)
        let parameters = MSALSilentTokenParameters(scopes: ["user.read"], account: account)
        parameters.forceRefresh = false
        do {
            return try await application.acquireTokenSilent(with: parameters).authorizationHeader
        } catch let error as NSError where error.code == MSALError.interactionRequired.rawValue {
            let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
            let interactive = MSALInteractiveTokenParameters(scopes: ["user.read"], webviewParameters: webview)
            interactive.account = account
            return try await application.acquireToken(with: interactive).authorizationHeader
        }
    }

    func forget(_ account: MSALAccount) async throws {
        try application.remove(account)
        for account in try await application.accountsFromDevice(for: MSALAccountEnumerationParameters()) {
            let webview = MSALWebviewParameters(authPresentationViewController: UIViewController())
            let parameters = MSALSignoutParameters(webviewParameters: webview)
            try await application.signout(with: account, signoutParameters: parameters)
        }
    }
}

/// A test double of an app.
final class MockApplication: MSALPublicClientApplication {
    override func allAccounts() throws -> [MSALAccount] { [] }
    override func acquireTokenSilent(with parameters: MSALSilentTokenParameters) async throws -> MSALResult {
        throw NSError(domain: MSALErrorDomain, code: MSALError.interactionRequired.rawValue)
    }
}

@Suite(.bounded) struct MSALSampleAppTests {
    @MainActor @Test func startsASampleApp() throws {
        let controller = SampleViewController()
        try controller.initMSAL()
        #expect(controller.applicationContext?.configuration.clientId == controller.kClientID)
        #expect(controller.webViewParameters?.parentViewController === controller)
    }

    @Test func letsAppsReplaceTheApplicationInTheirTests() async throws {
        let application: MSALPublicClientApplication = try MockApplication(clientId: "app")
        #expect(try application.allAccounts().isEmpty)
    }
}
