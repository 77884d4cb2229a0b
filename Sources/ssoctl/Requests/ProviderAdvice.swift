internal import TokenModel

/// The remedies if an identity provider refuses a sign-in or a token.
struct ProviderAdvice {
    let refusal: ProviderRefusal
    let target: Target
    /// The other options of the sign-in, such as the account's name.
    let words: [String]
    /// Whether a sign-in may grant the scopes that were refused.
    private let requiresSignIn: Bool

    /// Returns nil if the error is not a provider's, or has no known reason.
    init?(_ error: TokenError, _ target: Target, words: [String]) {
        guard error.details.oauthError != nil, let refusal = ProviderRefusal(error.details) else { return nil }
        (self.refusal, self.target, self.words) = (refusal, target, words)
        requiresSignIn = error.code == .interactionRequired && error.reason == .scope
    }

    /// A description of what does not fit. The provider's own words are in the details of the error.
    var message: String {
        switch refusal {
        case .consentOfAdministrator where (target.authority ?? .common).kind == .entra:
            let place = "\(target.authority ?? .common)/adminconsent?client_id=\(target.clientID.text)"
            return "\(refusal.explanation); the page for that is \(place)"
        case .scopes, .resource: return "\(refusal.explanation): \(target.scopeText)"
        default: return refusal.explanation
        }
    }

    /// The command that helps; nil if none does before the app's registration or the tenant has been changed.
    var command: String? {
        switch refusal {
        case .policy, .disabledApp, .confidentialApp: nil
        case .unauthenticatedApp: showApp
        case .unknownApp: showApp ?? signIn(words)
        case .scopes where requiresSignIn: signIn(words)
        case .scopes, .resource:
            target.takesScopesFromApp ? showApp : target.command("sign-in", withOtherScopes: words)
        case .unknownTenant, .appOfOneTenant: target.command("sign-in", atTenant: "TENANT", words)
        case .consent: signIn(asking("consent"))
        case .unassignedAccount, .unknownAccount, .disabledAccount: signIn(asking("select_account", anybody: true))
        case .question: signIn(allowingQuestions)
        case .redirectURI, .consentOfAdministrator, .declined, .endedSignIn: signIn(words)
        }
    }

    /// The command that shows the app's table of the configuration; nil if the app was named by its client ID.
    private var showApp: String? {
        target.appName.map { CommandLineWords("ssoctl", "app", "show", $0).text }
    }

    private func signIn(_ words: [String]) -> String { target.command("sign-in", words) }

    /// The words without a `prompt` parameter that forbids the identity provider to ask anything.
    private var allowingQuestions: [String] {
        guard let index = words.firstIndex(of: "--prompt"), words[(index + 1)...].first == "none" else { return words }
        return Array(words[..<index] + words[(index + 2)...])
    }

    /// The words with a `prompt` parameter, and without a code on another device, which has none.
    private func asking(_ prompt: String, anybody: Bool = false) -> [String] {
        var (kept, rest) = ([String](), words[...])
        while let word = rest.popFirst() {
            switch word {
            case "--device-code": continue
            case "--prompt": rest = rest.dropFirst()
            case "--login-hint" where anybody: rest = rest.dropFirst()
            // Of a name that looks like an option.
            case _ where anybody && word.hasPrefix("--login-hint="): continue
            default: kept.append(word)
            }
        }
        return kept + ["--prompt", prompt]
    }
}

extension CommandFailure {
    /// The failure with what helps if an identity provider has refused, or has given no valid response.
    ///
    /// - Parameters:
    ///   - words: the options of a sign-in for the same.
    ///   - authority: the authority of the request.
    func advised(for target: Target, words: [String], at authority: Authority) -> CommandFailure {
        guard nextCommand == nil, endingSignal == nil else { return self }
        var failure = self
        if let advice = ProviderAdvice(error, target, words: words) {
            failure.error = TokenError(error.code, advice.message, details: error.details)
            failure.nextCommand = advice.command
        } else if error.isForDoctor {
            failure.nextCommand = target.doctor(at: authority)
        }
        return failure
    }

    /// The failure of a sign-in with what helps.
    func advised(for target: Target, _ manner: SignInOptions) -> CommandFailure {
        guard nextCommand == nil, endingSignal == nil else { return self }
        var failure = self
        switch error.code {
        case .authorizationFailed where error.details.oauthError == nil:
            failure.nextCommand = target.command("sign-in", manner.onAnotherDevice.words)
        // The provider offers no code for another device, which replaces a browser that cannot be started here. At a B2C authority, the
        // code is that of a host that cannot be validated.
        case .unsupportedFunctionality where target.authority?.kind != .b2c && !manner.usesBrowser && !manner.printsURL:
            failure.nextCommand = target.command("sign-in", manner.withPrintedPage.words)
        // Nobody has finished the page; a provider that does not respond is another code.
        case .timedOut, .sessionCanceled: failure.nextCommand = target.command("sign-in", manner.words)
        case .invalidGrant where error.isOfUnknownCode:
            failure.error = TokenError(
                error.code, "the code of the sign-in is not valid: it has expired, or was used already",
                details: error.details)
            failure.nextCommand = target.command("sign-in", manner.words)
        // The user has been asked already, and the same question would have the same answer.
        case .declinedScopes where manner.prompt == "consent":
            failure.error.append("; request the others only, or have an administrator of the tenant consent")
        case .declinedScopes: failure.nextCommand = target.command("sign-in", manner.asking("consent").words)
        // A number may say what does not fit, which does not change.
        case .serverError where ProviderRefusal(error.details) == nil:
            failure.error.append("; wait, and try again")
            failure.nextCommand = "sleep \(error.secondsToWait) && \(target.command("sign-in", manner.words))"
        case .unhandledHTTPResponse where error.details.httpStatus == 429:
            failure.error.append("; it asks to wait")
            failure.nextCommand = "sleep \(error.secondsToWait) && \(target.command("sign-in", manner.words))"
        case .mismatchedAccount:
            failure.nextCommand = target.command("sign-in", manner.asking("select_account").words)
        default: failure = advised(for: target, words: manner.words, at: target.authority ?? .common)
        }
        return failure
    }
}

extension TokenError {
    /// Whether `ssoctl doctor` can find the cause: the identity provider cannot be reached, or something else has responded,
    /// such as a proxy.
    var isForDoctor: Bool {
        guard details.oauthError == nil else { return false }
        return switch code {
        // The message says which file to name.
        case .networkUnavailable: details.networkErrorCode != Self.untrusted
        case .authorityValidation, .timedOut, .serverInvalidResponse, .unhandledHTTPResponse: true
        default: false
        }
    }

    /// Whether a provider does not know the code of a sign-in (RFC 6749 section 5.2), as after a response with its tokens that was lost. Entra
    /// has the same name for other reasons, with a number or another name of theirs.
    fileprivate var isOfUnknownCode: Bool {
        details.stsErrorCodes.isEmpty && ProviderRefusal(details) == nil
    }

    /// The seconds for which an overloaded provider asks to wait, at least one and at most an hour; a minute if it says nothing, or names a
    /// date.
    fileprivate var secondsToWait: Int64 { details.secondsToWait.map { min(max($0, 1), 3_600) } ?? 60 }

    /// The `NSURLErrorDomain` code of a connection to a server that is not trusted.
    private static let untrusted: Int32 = -1200
}
