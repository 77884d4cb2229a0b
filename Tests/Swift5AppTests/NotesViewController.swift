internal import MSAL

// An MSAL app as it was written for iOS before Swift 6: nothing in it is `Sendable`. Swift5AppTests compiles it in Swift 5's
// mode with warnings as errors. Swift6AppTests compiles the same file, by a symbolic link, in Swift 6's mode, in which it
// gives warnings, as with the original library, and no errors.

/// A view controller that stores the results of the library's blocks.
class NotesViewController: UIViewController {
    var application: MSALPublicClientApplication?
    var currentAccount: MSALAccount?
    var webViewParameters: MSALWebviewParameters?
    var loggingText = ""
    var accessToken = ""
    private let scopes = ["User.Read"]

    func initMSAL() throws {
        guard let authorityURL = URL(string: "https://login.microsoftonline.com/common") else { return }
        let configuration = MSALPublicClientApplicationConfig(
            clientId: "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa", redirectUri: "msauth.com.contoso.notes://auth",
            authority: try MSALAADAuthority(url: authorityURL))
        application = try MSALPublicClientApplication(configuration: configuration)
        let presenter: MSALViewController = self
        let parameters = MSALWebviewParameters(authPresentationViewController: presenter)
        #if !canImport(AppKit)
            parameters.presentationStyle = .fullScreen
        #endif
        parameters.customWebview = nil
        parameters.webviewType = .wkWebView
        webViewParameters = parameters
        MSALGlobalConfig.loggerConfig.logLevel = .verbose
    }

    func loadCurrentAccount(completion: @escaping (MSALAccount?) -> Void) {
        let parameters = MSALParameters()
        parameters.completionBlockQueue = DispatchQueue.main
        application?.getCurrentAccount(with: parameters) { account, previousAccount, error in
            if let error = error {
                self.updateLogging(text: "no account: \(error)")
                return
            }
            self.currentAccount = account
            self.updateLogging(text: "was \(previousAccount?.username ?? "nobody")")
            completion(account)
        }
    }

    func accountsOfTheDevice() -> [MSALAccount] {
        var found: [MSALAccount] = []
        // The block is called before the method returns, which this code base relies on.
        application?.accountsFromDevice(for: MSALAccountEnumerationParameters()) { accounts, _ in
            found = accounts ?? []
        }
        return found
    }

    func acquireTokenSilently(_ account: MSALAccount) {
        let parameters = MSALSilentTokenParameters(scopes: scopes, account: account)
        application?.acquireTokenSilent(with: parameters) { result, error in
            if let error = error {
                let nsError = error as NSError
                if nsError.domain == MSALErrorDomain, nsError.code == MSALError.interactionRequired.rawValue {
                    DispatchQueue.main.async { self.acquireTokenInteractively() }
                    return
                }
                self.updateLogging(text: self.explanation(of: nsError))
                return
            }
            guard let result = result else { return }
            self.accessToken = result.accessToken
        }
    }

    func acquireTokenInteractively() {
        guard let application = application, let webViewParameters = webViewParameters else { return }
        let parameters = MSALInteractiveTokenParameters(scopes: scopes, webviewParameters: webViewParameters)
        parameters.promptType = .selectAccount
        let completionBlock: MSALCompletionBlock = { [weak self] result, error in
            guard let result = result, error == nil else {
                self?.updateLogging(text: "\(String(describing: error))")
                return
            }
            self?.accessToken = result.accessToken
            self?.currentAccount = result.account
        }
        application.acquireToken(with: parameters, completionBlock: completionBlock)
    }

    func signOut() {
        guard let application = application, let account = currentAccount else { return }
        let parameters = MSALSignoutParameters()
        parameters.wipeAccount = true
        application.signout(with: account, signoutParameters: parameters) { success, error in
            if success { self.currentAccount = nil }
            self.updateLogging(text: error?.localizedDescription ?? "")
        }
    }

    func readDeviceMode() {
        application?.getDeviceInformation(with: nil) { information, _ in
            self.updateLogging(text: information?.deviceMode == .shared ? "shared" : "default")
        }
    }

    func updateLogging(text: String) { loggingText = text }

    /// Keys of an unaudited header are `String!`: code that unwraps them compiles, and so does code that does not.
    private func explanation(of error: NSError) -> String {
        let description = error.userInfo[MSALErrorDescriptionKey] as? String ?? error.localizedDescription
        guard let key = MSALInternalErrorCodeKey, let code = error.userInfo[key] as? Int else { return description }
        return "\(code): \(description)"
    }
}
