internal import AgentClient
internal import TokenModel

/// A token without user interaction: finds the account and the authority that the user has left out.
struct SilentToken {
    let agent: AgentClient
    let target: Target
    /// nil for the only account that is signed in to the app.
    let name: AccountName?
    /// Whether the name is on the command line. With an authority too, the agent gets one request if the name is exact; accounts are
    /// listed only if there is no token for it.
    let isNamed: Bool
    let freshness: Freshness
    /// The options of the command line that say how the token is written, for a command that repeats it.
    var formWords: [String] = []

    private var finder: AccountFinder { AccountFinder(agent: agent, sharingGroup: target.sharingGroup) }

    /// Returns the token.
    func acquire() async throws -> TokenResult {
        guard isNamed, let name, let authority = target.authority else {
            let found = try await signedIn()
            // A policy, and a provider, have accounts of their own, which the agent finds by the authority.
            if found.count > 1, let provider = target.authority, provider.kind == .b2c || provider.kind == .openID {
                let own = await outcome(self.name?.likely.reference ?? AccountReference(), provider)
                if own.decides { return try await result(own, of: self.name, at: provider, found) }
            }
            let fitting = target.accounts(among: found)
            let chosen = try choose(among: fitting)
            return try await token(of: chosen.account, at: chosen.authorities, fitting)
        }
        let exact = await outcome(name.likely.reference, authority)
        guard case .failure(let error) = exact, await mayBeDueToName(error) else {
            return try await result(exact, of: name, at: authority, [])
        }
        // The name may be the beginning of a username, or an identifier with an “@”. Without the list, nothing says that the user has to
        // sign in.
        let found = target.accounts(among: try await signedIn())
        if error.code == .ambiguousAccount, !found.isEmpty {
            let chosen = try choose(among: found)
            return try await token(of: chosen.account, at: chosen.authorities, found)
        }
        if found.count != 1, name.reference != name.likely.reference {
            let identified = await outcome(name.reference, authority)
            if identified.decides { return try await result(identified, of: name, at: authority, found) }
        }
        guard found.count == 1, !name.likely.isExact(found[0]) else {
            return try await result(exact, of: name, at: authority, found)
        }
        return try await token(of: found[0].reference, at: [authority], found)
    }

    /// Whether a request may have failed because its name is not exact, or is that of several accounts. A published socket of one
    /// account refuses any other name.
    private func mayBeDueToName(_ error: TokenError) async -> Bool {
        if error.code == .requestDenied { return await agent.isAtPublishedSocket() }
        return error.code == .interactionRequired || error.code == .ambiguousAccount
    }

    /// The token of an account, from the first of the authorities that the agent admits: it refuses one with the wrong URL scheme
    /// without a request to the provider.
    private func token(
        of account: AccountReference, at authorities: [Authority], _ found: [Account]
    ) async throws -> TokenResult {
        var last = Result<TokenResult, TokenError>.failure(TokenError(.internalError, "no authority is known"))
        var tried = Authority.common
        for authority in authorities {
            tried = authority
            last = await outcome(account, authority)
            guard case .failure(let error) = last, error.code == .invalidDeveloperParameter else { break }
        }
        return try await result(last, of: AccountName(account), at: tried, found)
    }

    /// The token, or the failure that says what does not fit.
    private func result(
        _ outcome: Result<TokenResult, TokenError>, of name: AccountName?, at authority: Authority, _ found: [Account]
    ) async throws -> TokenResult {
        switch outcome {
        case .success(let token): return token
        case .failure(let error) where error.code == .interactionRequired:
            var failure = await SignInNeed(
                agent: agent, target: target, name: name, signedIn: found, otherWords: freshness.words + formWords
            ).failure(error)
            if !isNamed, failure.status == .noSuchAccount, let name {
                // With its name: the message may end with those of other accounts.
                failure.error.append(
                    Settings.accountVariable == nil
                        ? " (“\(name.text)” is the default account; “ssoctl use” chooses another)"
                        : " (SSO_AGENT_ACCOUNT names “\(name.text)”)")
            }
            throw failure
        case .failure(let error): throw failure(error.naming(found, name), at: authority)
        }
    }

    private func outcome(_ account: AccountReference, _ authority: Authority) async -> Result<TokenResult, TokenError> {
        var request = AcquireTokenSilent(
            parameters: target.parameters(at: authority), account: account, forceRefresh: freshness.forceRefresh)
        if let seconds = freshness.minimumValidity { request.expirationBuffer = seconds }
        do throws(TokenError) { return .success(try await agent.acquireTokenSilent(request)) } catch {
            return .failure(error)
        }
    }

    /// The accounts that the name means and that are signed in to the app.
    private func signedIn() async throws(TokenError) -> [Account] {
        do throws(TokenError) {
            return try await finder.accounts(name, of: target.clientID)
        } catch {
            // A sandboxed app, and one at a published socket, may list its own accounts only.
            guard error.code == .requestDenied else { throw error }
            return []
        }
    }

    /// The only account, and its authorities: on this machine one with http and one with https, of which the agent admits one.
    private func choose(
        among found: [Account]
    ) throws(CommandFailure) -> (account: AccountReference, authorities: [Authority]) {
        guard let account = found.first else {
            // The agent may have a token of an account that is not signed in, such as an imported one.
            return (name?.likely.reference ?? AccountReference(), [target.authority ?? .common])
        }
        guard found.count == 1 else {
            let what =
                name.map { "“\($0.text)” fits several accounts" }
                ?? "several accounts are signed in to the app \(target.appText)"
            throw CommandFailure.ambiguous(
                "\(what); name one with --account, or choose a default with “ssoctl use”", found,
                nextCommand: target.command(
                    "token",
                    CommandLineWords.option("--account", AccountFinder.firstName(of: found)) + freshness.words
                        + formWords))
        }
        if let authority = target.authority { return (account.reference, [authority]) }
        var authorities: [Authority] = []
        for scheme in ["http", "https"] {
            if let authority = Authority(of: account, localScheme: scheme), !authorities.contains(authority) {
                authorities.append(authority)
            }
        }
        guard !authorities.isEmpty else {
            throw CommandFailure(
                TokenError(
                    .invalidDeveloperParameter,
                    "the URL of the provider of \(account.loginHint ?? "the account") at \(account.environment) is not known; "
                        + "give it with --authority, or add it to the app"))
        }
        return (account.reference, authorities)
    }

    /// The account as it was named on the command line.
    private var accountWords: [String] {
        isNamed ? CommandLineWords.option("--account", name?.text) : []
    }

    /// - Parameter error: the error with the account of the request.
    private func failure(_ error: TokenError, at authority: Authority) -> CommandFailure {
        if error.reason == .throttled, let end = error.details.throttledUntil {
            let now = Terminal.now
            let again = target.command("token", accountWords + freshness.words + formWords)
            return CommandFailure(error, nextCommand: "sleep \(end > now ? end - now : 1) && \(again)")
        }
        let hint = CommandLineWords.loginHint(Account.loginHint(error.details.username))
        return switch error.code {
        case .declinedScopes:
            CommandFailure(error, nextCommand: target.at(authority).command("sign-in", hint + ["--prompt", "consent"]))
        case .ambiguousAccount: CommandFailure(error, nextCommand: finder.list)
        default: CommandFailure(error).advised(for: target.at(authority), words: hint, at: authority)
        }
    }
}

extension TokenError {
    /// The error with the account of the request, if it names none.
    ///
    /// - Parameters:
    ///   - found: the accounts that fit the request.
    ///   - name: the account as the request names it; nil if it names none.
    fileprivate func naming(_ found: [Account], _ name: AccountName?) -> TokenError {
        var error = self
        let account = details.partialResult?.account ?? (found.count == 1 ? found[0] : nil)
        let username = name.flatMap { $0.text.contains("@") ? $0.text : nil }
        error.details.homeAccountID = details.homeAccountID ?? account?.homeAccountID
        error.details.username = details.username ?? account?.username ?? username
        return error
    }
}

extension Result<TokenResult, TokenError> {
    /// Whether the agent has found the account that is meant: not if it is one of several, or none. What the identity provider says is
    /// of one account.
    fileprivate var decides: Bool {
        guard case .failure(let error) = self else { return true }
        return error.code != .ambiguousAccount
            && (error.code != .interactionRequired || error.details.oauthError != nil)
    }
}
