import ADAL

/// The part of a mail app that acquires tokens.
struct MailApp: Sendable {
    let options: Options

    /// Acquires a token and prints its user; calls `completion` with the exit status.
    func printToken(completion: @escaping @Sendable (Int32) -> Void) {
        var error: ADAuthenticationError?
        // An authority on a loopback host belongs to a test, and is not among the known authorities.
        let isLocal = ["localhost", "127.0.0.1", "::1"].contains(URL(string: options.authority)?.host ?? "")
        guard let redirectURI = URL(string: options.redirectURI),
            let context = ADAuthenticationContext(
                authority: options.authority, validateAuthority: !isLocal, error: &error)
        else {
            return completion(fail(error?.errorDetails ?? "the redirect URI is not a URL"))
        }
        switch options.prompt {
        case .never: acquireTokenSilently(context, redirectURI) { completion(report($0)) }
        case .ifRequired: acquireToken(context, redirectURI, AD_PROMPT_AUTO) { completion(report($0)) }
        case .always: acquireToken(context, redirectURI, AD_PROMPT_ALWAYS) { completion(report($0)) }
        }
    }

    private func acquireTokenSilently(
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

    private func acquireToken(
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
            _ = fail("sign in first: the same command with --sign-in")
            return 2
        }
        let user = result.tokenCacheItem?.userInformation
        print("userId: \(user?.userId ?? "unknown")")
        print("homeAccountId: \(user?.homeAccountId ?? "unknown")")
        print("token for \(options.resource) (\(token.count) chars)")
        return 0
    }

    private func fail(_ reason: String) -> Int32 {
        FileHandle.standardError.write(Data("legacy-mail: \(reason)\n".utf8))
        return 1
    }
}
