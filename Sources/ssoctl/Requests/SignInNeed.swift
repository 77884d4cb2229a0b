internal import AgentClient
internal import TokenModel

/// Finds out what does not fit if a silent request needs a sign-in, by asking the agent for its accounts.
struct SignInNeed {
    let agent: AgentClient
    let target: Target
    /// nil if the request named no account.
    let name: AccountName?
    /// The accounts that the name means and that are signed in to the app, as far as this process may know.
    let signedIn: [Account]
    /// The options of the command line that name neither the target nor the account.
    let otherWords: [String]

    private var finder: AccountFinder { AccountFinder(agent: agent, sharingGroup: target.sharingGroup) }

    /// The failure that says what does not fit, and the command that helps.
    func failure(_ original: TokenError) async -> CommandFailure {
        do throws(TokenError) {
            return try await explained(original)
        } catch {
            // A sandboxed app, and one at a published socket, may not list all accounts.
            return CommandFailure(original, nextCommand: target.command("sign-in", name?.loginHint ?? []))
        }
    }

    private func explained(_ error: TokenError) async throws(TokenError) -> CommandFailure {
        if signedIn.count == 1 { return await failure(error, of: signedIn[0], isSignedIn: true) }
        let matches = try await finder.accounts(name, of: nil)
        guard let name else { return await nobody(error, among: matches) }
        let fitting = target.accounts(among: matches)
        guard let account = fitting.first else {
            // A sign-in gets a whole username as its hint. Anything shorter was meant for an account that is signed in.
            return try await finder.unknown(name, token) { isAnybodySignedIn in
                isAnybodySignedIn && name.loginHint.isEmpty
                    ? finder.list : target.command("sign-in", name.loginHint)
            }
        }
        guard fitting.count == 1 else { return AccountFinder.ambiguous(name, fitting, token) }
        return await failure(error, of: account, isSignedIn: false)
    }

    /// The words of the token command for an account.
    private func token(_ account: String) -> CommandLineWords {
        target.words("token", CommandLineWords.option("--account", account) + otherWords)
    }

    /// The failure if no account was named, and none is signed in to the app.
    private func nobody(_ error: TokenError, among others: [Account]) async -> CommandFailure {
        guard error.details.oauthError == nil else { return await refused(error, nil) }
        let named = others.filter { $0.loginHint != nil }
        let names = named.compactMap(\.loginHint)
        let known = names.isEmpty ? "" : "; other apps have: \(names.prefix(5).joined(separator: ", "))"
        return CommandFailure(
            with("nobody is signed in to the app \(target.appText)\(known)", error, .app),
            nextCommand: await signIn(named.count == 1 ? named[0] : nil))
    }

    private func failure(_ error: TokenError, of account: Account, isSignedIn: Bool) async -> CommandFailure {
        var error = error
        // The agent names the account if it has tried to renew a token of it.
        let isOfRenewal = error.details.homeAccountID != nil || error.details.username != nil
        let who = account.loginHint ?? account.homeAccountID?.text ?? "the account"
        error.details.homeAccountID = error.details.homeAccountID ?? account.homeAccountID
        error.details.username = error.details.username ?? account.username
        // What the identity provider has said is the reason.
        guard error.details.oauthError == nil else { return await refused(error, account) }
        // The agent's message says why the refresh token was of no use.
        guard !isOfRenewal else { return CommandFailure(error, nextCommand: await signIn(account)) }
        if let authority = target.authority, !CloudDirectory().sameCloud(authority.environment, account.environment) {
            let own = CloudDirectory().cloud(of: account.environment).preferredNetwork
            return CommandFailure(
                with("\(who) is signed in at \(own), not at \(authority.environment)", error, .authority),
                nextCommand: await signIn(account))
        }
        guard isSignedIn else {
            return CommandFailure(
                with("\(who) is not signed in to the app \(target.appText)", error, .account),
                nextCommand: await signIn(account))
        }
        if let authority = target.authority, let policy = authority.policy, !authority.isFor(account.homeAccountID) {
            return CommandFailure(
                with("\(who) is not an account of the policy \(policy)", error, .authority),
                nextCommand: await signIn(account))
        }
        return CommandFailure(
            with(
                "\(who) is signed in to the app \(target.appText), but there is no token for this request and none to renew it with",
                error),
            nextCommand: await signIn(account))
    }

    /// The failure if the identity provider has refused.
    private func refused(_ error: TokenError, _ account: Account?) async -> CommandFailure {
        let hint = CommandLineWords.loginHint(account?.loginHint)
        guard let advice = ProviderAdvice(error, await target.at(account, agent), words: hint) else {
            return CommandFailure(error, nextCommand: await signIn(account))
        }
        // The agent's message is kept, since it tells what has been tried.
        return CommandFailure(error, nextCommand: advice.command)
    }

    private func with(_ message: String, _ error: TokenError, _ reason: TokenError.Reason? = nil) -> TokenError {
        var error = TokenError(error.code, message, details: error.details)
        if let reason { error.details.reason = reason }
        return error
    }

    private func signIn(_ account: Account?) async -> String { await target.signIn(account, agent) }
}

extension Target {
    /// The command by which an account signs in; nil for any account.
    func signIn(_ account: Account?, _ agent: AgentClient) async -> String {
        await at(account, agent).command("sign-in", CommandLineWords.loginHint(account?.loginHint))
    }

    /// The target of a sign-in of the account; see ``at(_:)``.
    fileprivate func at(_ account: Account?, _ agent: AgentClient) async -> Target {
        guard let account, at(Authority(of: account, localScheme: "https")).authority != authority else { return self }
        // Only the tokens tell whether a provider on this machine is reached without TLS.
        let tokens = try? await AccountTokens.read(agent, sharingGroup, isRequired: false)
        return at(Authority(of: account, localScheme: tokens?.localScheme ?? "https"))
    }
}
