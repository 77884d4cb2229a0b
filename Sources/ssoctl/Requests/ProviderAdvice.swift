internal import AgentClient
internal import TokenModel

/// The remedies if an identity provider refuses a sign-in or a token.
struct ProviderAdvice {
    let refusal: ProviderRefusal
    let target: Target
    /// The other options of the sign-in, such as the account's name.
    let words: [String]

    /// Nil if the error is not a provider's, or has no known reason.
    init?(_ error: TokenError, _ target: Target, words: [String]) {
        guard error.details.oauthError != nil, let refusal = ProviderRefusal(error.details) else { return nil }
        (self.refusal, self.target, self.words) = (refusal, target, words)
    }

    /// A description of what does not fit. The provider's own words are in the details of the error.
    var message: String {
        guard refusal == .consentOfAdministrator, (target.authority ?? .common).kind == .entra else {
            return refusal.explanation
        }
        let place = "\(target.authority ?? .common)/adminconsent?client_id=\(target.clientID.text)"
        return "\(refusal.explanation); the page for that is \(place)"
    }

    /// The command that helps; nil if only an administrator can.
    var command: String? {
        switch refusal {
        case .policy: nil
        case .unknownApp, .scopes, .resource: showApp ?? signIn(words)
        case .unknownTenant, .appOfOneTenant: target.command("sign-in", atTenant: "TENANT", words)
        case .consent: signIn(asking("consent"))
        case .unassignedAccount, .unknownAccount, .disabledAccount: signIn(asking("select_account", anybody: true))
        case .confidentialApp, .redirectURI, .consentOfAdministrator, .question, .endedSignIn: signIn(words)
        }
    }

    /// The command that shows what is configured, if that was sent.
    private var showApp: String? {
        target.appName.map { CommandLineWords("ssoctl", "app", "show", $0).text }
    }

    private func signIn(_ words: [String]) -> String { target.command("sign-in", words) }

    /// The words with a `prompt` parameter, and without a code on another device, which has none.
    private func asking(_ prompt: String, anybody: Bool = false) -> [String] {
        var (kept, rest) = ([String](), words[...])
        while let word = rest.popFirst() {
            switch word {
            case "--device-code": continue
            case "--prompt": rest = rest.dropFirst()
            case "--login-hint" where anybody: rest = rest.dropFirst()
            default: kept.append(word)
            }
        }
        return kept + ["--prompt", prompt]
    }
}

extension CommandFailure {
    /// The failure with what helps if an identity provider has refused.
    ///
    /// - Parameter words: the options of a sign-in for the same.
    func advised(for target: Target, words: [String]) -> CommandFailure {
        guard nextCommand == nil, endingSignal == nil, let advice = ProviderAdvice(error, target, words: words) else {
            return self
        }
        var failure = self
        failure.error = TokenError(error.code, advice.message, details: error.details)
        failure.nextCommand = advice.command
        return failure
    }
}
