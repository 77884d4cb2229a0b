internal import AgentClient
internal import TokenModel

/// An account as a person names it: its identifier, its name, or the beginning of its name.
struct AccountName {
    let text: String
    private let mayBeIdentifier: Bool

    init(_ text: String, isIdentifier: Bool) {
        self.text = text
        mayBeIdentifier = isIdentifier
    }

    /// A name of which it is not known what it is.
    init(_ text: String) { self.init(text, isIdentifier: !text.contains("@")) }

    /// The name of an account that a request names; nil if it names none.
    init?(_ account: AccountReference) {
        if let identifier = account.homeAccountID {
            self.init(identifier.text, isIdentifier: true)
        } else if let username = account.username {
            self.init(username, isIdentifier: false)
        } else {
            return nil
        }
    }

    /// The account if the name is exact.
    var reference: AccountReference {
        mayBeIdentifier ? AccountReference(homeAccountID: HomeAccountID(text)) : AccountReference(username: text)
    }

    var homeAccountID: HomeAccountID? { mayBeIdentifier ? HomeAccountID(text) : nil }

    /// Whether the account's username begins with the name.
    func isPrefix(of account: Account) -> Bool {
        account.username?.lowercased().hasPrefix(text.lowercased()) == true
    }
}

/// Finds the accounts that a name means.
struct AccountChoice {
    let agent: AgentClient
    let sharingGroup: SharingGroup

    /// The accounts with the identifier or the username; if there are none, those whose username begins with the name.
    ///
    /// - Parameters:
    ///   - name: nil for every account.
    ///   - clientID: only the accounts that are signed in to this app; nil for every account.
    func accounts(_ name: AccountName?, of clientID: ClientID?) async throws(TokenError) -> [Account] {
        var request = ListAccounts(
            clientID: clientID, sharingGroup: sharingGroup, onlySignedIn: clientID != nil)
        guard let name else { return try await agent.listAccounts(request) }
        if let identifier = name.homeAccountID {
            request.homeAccountID = identifier
            let found = try await agent.listAccounts(request)
            if !found.isEmpty { return found }
            request.homeAccountID = nil
        }
        request.username = name.text
        let found = try await agent.listAccounts(request)
        if !found.isEmpty { return found }
        request.username = nil
        return try await agent.listAccounts(request).filter(name.isPrefix)
    }

    /// The only account that a name means.
    ///
    /// - Throws: `accountNotFound` (-53010), or an ambiguous name with the accounts and exit status 2.
    func account(_ name: AccountName, of clientID: ClientID? = nil) async throws -> Account {
        let found = try await accounts(name, of: clientID)
        guard let first = found.first else { throw try await unknown(name) }
        guard found.count == 1 else {
            throw CommandFailure.ambiguous(
                "“\(name.text)” is several accounts; name one of them:", found, nextCommand: nil)
        }
        return first
    }

    /// The failure for a name that no account has, with the accounts that there are.
    func unknown(_ name: AccountName, signIn: String = "ssoctl sign-in") async throws(TokenError) -> CommandFailure {
        let all = try await accounts(nil, of: nil)
        let names = all.compactMap(\.username)
        let nearest = Suggestion.nearest(to: name.text, among: names).map { "; did you mean \($0)?" }
        let some = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        let others = names.isEmpty ? "; nobody is signed in" : "; signed in: \(some)"
        let hint = name.text.contains("@") ? " --login-hint \(CommandLineWords.quoted(name.text))" : ""
        return CommandFailure(
            TokenError(.accountNotFound, "no account “\(name.text)” is known\(nearest ?? others)"),
            nextCommand: signIn + hint)
    }
}

extension Authority {
    /// The authority of an account's home tenant; nil if the account does not tell: B2C needs a policy, and any other provider
    /// its URL.
    init?(of account: Account) {
        let cloud = CloudDirectory().cloud(of: account.environment)
        let home = account.tenantProfiles.first { $0.isHome } ?? account.tenantProfiles.first
        guard let realm = (home?.realm ?? account.homeAccountID?.tenantID)?.trimmedNonEmpty, !realm.contains("/") else {
            return nil
        }
        let host = cloud.preferredNetwork
        let isLocal = URLParts.isLoopback(host: URLParts.host(ofEnvironment: host))
        guard isLocal || CloudDirectory.isBuiltIn(host) || realm == "adfs" || host.hasSuffix(".ciamlogin.com"),
            let authority = try? Authority("\(isLocal ? "http" : "https")://\(host)/\(realm)")
        else { return nil }
        self = authority
    }
}
