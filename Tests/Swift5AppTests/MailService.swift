internal import ADAL

// An ADAL app as it was written before Swift 6; both targets compile it, as they do NotesViewController.swift.

/// A service that stores the results of the library's blocks.
class MailService {
    var token: String?
    var authority: String?
    var lastError: ADAuthenticationError?
    private let resource = "https://graph.microsoft.com"
    private let clientId = "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa"

    func context(_ parent: UIViewController) -> ADAuthenticationContext? {
        var error: ADAuthenticationError?
        let context = ADAuthenticationContext(authority: "https://login.microsoftonline.com/common", error: &error)
        context?.parentController = parent
        context?.credentialsType = AD_CREDENTIALS_AUTO
        lastError = error
        return context
    }

    func acquireToken(_ context: ADAuthenticationContext, redirectUri: URL, completion: @escaping (String?) -> Void) {
        context.acquireTokenSilent(withResource: resource, clientId: clientId, redirectUri: redirectUri) { result in
            if result.status == AD_SUCCEEDED {
                self.token = result.accessToken
                completion(result.accessToken)
                return
            }
            self.lastError = result.error
            context.acquireToken(
                withResource: self.resource, clientId: self.clientId, redirectUri: redirectUri,
                promptBehavior: AD_PROMPT_AUTO, userId: result.tokenCacheItem?.userInformation?.userId,
                extraQueryParameters: "nux=1"
            ) { result in
                self.token = result.accessToken
                completion(result.accessToken)
            }
        }
    }

    func exchange(_ context: ADAuthenticationContext, refreshToken: String, redirectUri: URL) {
        let callback: ADAuthenticationCallback = { result in self.token = result.accessToken }
        context.acquireToken(
            withRefreshToken: refreshToken, resource: resource, clientId: clientId, redirectUri: redirectUri,
            completionBlock: callback)
        context.acquireToken(
            forAssertion: "<saml/>", assertionType: AD_SAML2, resource: resource, clientId: clientId, userId: nil,
            completionBlock: callback)
    }

    func discover(_ url: URL) {
        ADAuthenticationParameters.parameters(fromResourceUrl: url) { parameters, error in
            self.authority = parameters?.authority
            self.lastError = error
        }
    }

    func startLogging(into lines: NSMutableArray) {
        ADLogger.setLoggerCallback { _, message, containsPii in
            if !containsPii { lines.add(message) }
        }
    }
}
