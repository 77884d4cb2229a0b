import ADAL

/// The part of a mail app that gets it a token.
struct MailApp: Sendable {
    let options: Options

    /// Gets a token and prints whose it is; `completion` is told the exit status.
    func getToken(completion: @escaping @Sendable (Int32) -> Void) {
        var error: ADAuthenticationError?
        // An authority on this machine is a test's own, which no directory of known authorities lists.
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(URL(string: options.authority)?.host ?? "")
        guard let redirectURI = URL(string: options.redirectURI),
            let context = ADAuthenticationContext(
                authority: options.authority, validateAuthority: !isLocal, error: &error)
        else {
            return completion(fail(error?.errorDetails ?? "the redirect URI is not a URL"))
        }
        switch options.way {
        case .never: getSilently(context, redirectURI) { completion(report($0)) }
        case .whenNeeded: signIn(context, redirectURI, AD_PROMPT_AUTO) { completion(report($0)) }
        case .always: signIn(context, redirectURI, AD_PROMPT_ALWAYS) { completion(report($0)) }
        }
    }

    private func getSilently(
        _ context: ADAuthenticationContext, _ redirectURI: URL,
        _ completion: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        if let userID = options.userID {
            context.acquireTokenSilent(
                withResource: options.resource, clientId: options.clientID, redirectUri: redirectURI, userId: userID,
                completionBlock: completion)
        } else {
            context.acquireTokenSilent(
                withResource: options.resource, clientId: options.clientID, redirectUri: redirectURI,
                completionBlock: completion)
        }
    }

    private func signIn(
        _ context: ADAuthenticationContext, _ redirectURI: URL, _ prompt: ADPromptBehavior,
        _ completion: @escaping @Sendable (ADAuthenticationResult) -> Void
    ) {
        context.acquireToken(
            withResource: options.resource, clientId: options.clientID, redirectUri: redirectURI,
            promptBehavior: prompt, userId: options.userID, extraQueryParameters: nil, completionBlock: completion)
    }

    private func report(_ result: ADAuthenticationResult) -> Int32 {
        guard result.status == AD_SUCCEEDED, let token = result.accessToken else {
            guard result.error?.code == ADErrorCode.ERROR_SERVER_USER_INPUT_NEEDED.rawValue else {
                return fail(result.error?.errorDetails ?? "there is no token")
            }
            _ = fail("sign in first: legacy-mail --sign-in")
            return 2
        }
        let user = result.tokenCacheItem?.userInformation
        print("userId: \(user?.userId ?? "unknown")")
        print("homeAccountId: \(user?.homeAccountId ?? "unknown")")
        print("token for \(options.resource) (\(token.count) chars)")
        return 0
    }

    private func fail(_ why: String) -> Int32 {
        FileHandle.standardError.write(Data("legacy-mail: \(why)\n".utf8))
        return 1
    }
}
