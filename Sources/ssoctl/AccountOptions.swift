internal import AgentClient
internal import ArgumentParser
internal import TokenModel

/// Which account is meant.
struct AccountOptions: ParsableArguments {
    @Option(name: .customLong("account"), help: "The account's identifier, as “ssoctl accounts” prints it.")
    var identifier: String?

    @Option(help: "The account's name.")
    var username: String?

    func validate() throws {
        guard (identifier == nil) != (username == nil) else {
            throw ValidationError("Name the account: --account or --username.")
        }
        guard !reference.isEmpty else { throw ValidationError("The account's name must not be blank.") }
    }

    var reference: AccountReference {
        AccountReference(homeAccountID: identifier.flatMap(HomeAccountID.init), username: username)
    }

    /// - Throws: `accountNotFound` (-53010) when the sharing group knows no such account.
    func requireKnown(_ agent: AgentClient, in group: SharingGroup) async throws(TokenError) {
        let known = try await agent.listAccounts(
            ListAccounts(
                clientID: nil, sharingGroup: group, homeAccountID: reference.homeAccountID,
                username: reference.username, onlySignedIn: false))
        guard known.isEmpty else { return }
        throw TokenError(
            .accountNotFound,
            "no account \(identifier ?? username ?? "") is signed in; see: ssoctl accounts, or sign in with: ssoctl sign-in"
        )
    }
}
