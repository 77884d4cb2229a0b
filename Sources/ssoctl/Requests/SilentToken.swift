internal import AgentClient
internal import TokenModel

/// A token without user interaction: finds the account and the authority that the user has left out.
struct SilentToken {
    let agent: AgentClient
    let target: Target
    /// nil for the only account that is signed in to the app.
    let name: AccountName?
    /// Whether the name is on the command line. With an authority too, the agent gets one request only.
    let isNamed: Bool
    let freshness: FreshnessOptions

    private var choice: AccountChoice { AccountChoice(agent: agent, sharingGroup: target.sharingGroup) }

    /// Returns the token.
    func acquire() async throws -> TokenResult {
        let exact: (account: AccountReference, authority: Authority)
        if isNamed, let name, let authority = target.authority {
            exact = (name.reference, authority)
        } else {
            exact = try await chosen()
        }
        let first = await outcome(exact.account, exact.authority)
        guard case .failure(let error) = first, error.code == .interactionRequired,
            let other = await otherMeaning(than: exact.account)
        else { return try await result(first, of: exact.account) }
        return try await result(await outcome(other, target.authority ?? exact.authority), of: other)
    }

    /// The token, or the failure that says what does not fit.
    private func result(
        _ outcome: Result<TokenResult, TokenError>, of account: AccountReference
    ) async throws -> TokenResult {
        switch outcome {
        case .success(let token): return token
        case .failure(let error) where error.code == .interactionRequired:
            var failure = await Diagnosis(agent: agent, target: target, name: AccountName(account)).failure(error)
            if !isNamed, failure.status == .noSuchAccount {
                failure.error.message += " (it is the default account; “ssoctl use” chooses another)"
            }
            throw failure
        case .failure(let error): throw failure(error)
        }
    }

    private func outcome(
        _ account: AccountReference, _ authority: Authority
    ) async -> Result<TokenResult, TokenError> {
        do throws(TokenError) { return .success(try await request(account, authority)) } catch {
            return .failure(error)
        }
    }

    private func request(_ account: AccountReference, _ authority: Authority) async throws(TokenError) -> TokenResult {
        var request = AcquireTokenSilent(
            parameters: target.parameters(at: authority), account: account, forceRefresh: freshness.forceRefresh)
        if let seconds = freshness.minimumValidity { request.expirationBuffer = seconds }
        return try await agent.acquireTokenSilent(request)
    }

    /// The account and the authority, by a list of the accounts.
    private func chosen() async throws -> (account: AccountReference, authority: Authority) {
        let found: [Account]
        do throws(TokenError) {
            found = try await choice.accounts(name, of: target.clientID)
        } catch {
            // A sandboxed app, and one at a published socket, may list its own accounts only.
            guard error.code == .requestDenied else { throw error }
            found = []
        }
        guard let account = found.first else {
            // The agent may have a token of an account that is not signed in, such as an imported one.
            return (name?.reference ?? AccountReference(), target.authority ?? .common)
        }
        guard found.count == 1 else {
            let what =
                name.map { "“\($0.text)” is several accounts" }
                ?? "several accounts are signed in to the app \(target.appText)"
            throw CommandFailure.ambiguous(
                "\(what); name one with --account, or choose a default with “ssoctl use”:", found,
                nextCommand: target.command(
                    "token", ["--account", found[0].username ?? found[0].homeAccountID?.text ?? "NAME"]))
        }
        guard let authority = target.authority ?? Authority(of: account) else {
            throw CommandFailure(
                TokenError(
                    .invalidDeveloperParameter,
                    "the URL of the provider of \(account.username ?? "the account") at \(account.environment) is not known; give it"
                ),
                nextCommand: target.command("token", ["--authority", "URL"]))
        }
        return (account.reference, authority)
    }

    /// The account whose name begins with the given one, if that is no exact name.
    private func otherMeaning(than exact: AccountReference) async -> AccountReference? {
        guard let name, let found = try? await choice.accounts(name, of: target.clientID), found.count == 1,
            case let account = found[0].reference,
            account.homeAccountID != exact.homeAccountID || exact.homeAccountID == nil,
            account.username?.lowercased() != exact.username?.lowercased()
        else { return nil }
        return account
    }

    /// The account as it was named on the command line.
    private var accountWords: [String] { isNamed ? name.map { ["--account", $0.text] } ?? [] : [] }

    private func failure(_ error: TokenError) -> CommandFailure {
        if error.reason == .throttled, let end = error.details.throttledUntil {
            let wait = "sleep \(max(end - Terminal.now, 1))"
            return CommandFailure(error, nextCommand: "\(wait) && \(target.command("token", accountWords))")
        }
        return switch error.code {
        case .declinedScopes, .protectionPolicyRequired:
            CommandFailure(error, nextCommand: target.command("sign-in", ["--prompt", "consent"]))
        case .ambiguousAccount: CommandFailure(error, nextCommand: "ssoctl accounts")
        default: CommandFailure(error)
        }
    }
}
