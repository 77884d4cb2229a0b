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

    /// A name that may be an identifier or a username.
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

    /// The name as what it is in all likelihood, if no list of accounts tells: a username if it looks like one.
    var likely: AccountName { text.contains("@") ? AccountName(text, isIdentifier: false) : self }

    /// The words of a sign-in's command line that suggest the account; none if it is not known to be a username.
    var loginHint: [String] { CommandLineWords.loginHint(text.contains("@") ? text : nil) }

    var homeAccountID: HomeAccountID? { mayBeIdentifier ? HomeAccountID(text) : nil }

    /// Whether a request with ``reference`` means the account.
    func isExact(_ account: Account) -> Bool {
        mayBeIdentifier ? account.homeAccountID == homeAccountID : account.username?.lowercased() == text.lowercased()
    }

    /// The accounts that the name means: those with this identifier, else with this username, else those whose username begins
    /// so. Of these, a personal account does not count beside a work account of its name without an identifier.
    func matches(in accounts: [Account]) -> [Account] {
        let text = text.lowercased()
        let rules: [(Account) -> Bool] = [
            { $0.homeAccountID != nil && $0.homeAccountID == homeAccountID },
            { $0.username?.lowercased() == text },
            { $0.username?.lowercased().begins(with: text) == true },
        ]
        let found = rules.lazy.map { accounts.filter($0) }.first { !$0.isEmpty } ?? []
        return Self.meant(of: found)
    }

    /// The accounts that a name means of those that it fits, as the agent decides: of a work account without an identifier, and a personal
    /// account of the same username, the former. The latter can be named by its identifier.
    static func meant(of found: [Account]) -> [Account] {
        let unidentified = found.filter { $0.homeAccountID == nil }
        guard !unidentified.isEmpty, unidentified.count < found.count else { return found }
        let clouds = CloudDirectory()
        return found.filter { account in
            guard account.homeAccountID?.isPersonal == true else { return true }
            return !unidentified.contains { other in
                other.username?.lowercased() == account.username?.lowercased()
                    && clouds.sameCloud(other.environment, account.environment)
            }
        }
    }
}

/// Finds the accounts that a name means.
struct AccountFinder {
    let agent: AgentClient
    let sharingGroup: SharingGroup

    /// The command that lists the accounts among which a name is looked for.
    var list: String { CommandLineWords.accounts(of: sharingGroup).text }

    /// The accounts that a name means, as ``AccountName/matches(in:)`` decides. The agent finds an exact name without a long list.
    ///
    /// - Parameters:
    ///   - name: nil for every account.
    ///   - clientID: only the accounts that are signed in to this app; nil for every account.
    func accounts(_ name: AccountName?, of clientID: ClientID?) async throws(TokenError) -> [Account] {
        if let name {
            let found = try await exactAccounts(name, of: clientID)
            if !found.isEmpty { return found }
            // The exact name of an account that is not signed in to the app does not stand for another account whose name
            // begins with it.
            if clientID != nil, try await isKnown(name) { return [] }
        }
        let all = try await agent.listAccounts(request(clientID))
        return name?.matches(in: all) ?? all
    }

    /// The accounts with this identifier, else those with this username.
    func exactAccounts(_ name: AccountName, of clientID: ClientID?) async throws(TokenError) -> [Account] {
        var request = request(clientID)
        if let identifier = name.homeAccountID {
            request.homeAccountID = identifier
            let found = try await agent.listAccounts(request)
            if !found.isEmpty { return found }
            request.homeAccountID = nil
        }
        request.username = name.text
        return AccountName.meant(of: try await agent.listAccounts(request))
    }

    private func request(_ clientID: ClientID?) -> ListAccounts {
        ListAccounts(clientID: clientID, sharingGroup: sharingGroup, onlySignedIn: clientID != nil)
    }

    /// The name of the first app whose accounts this process may list, if it may not list those of all apps, as in a sandbox and at a
    /// published socket; nil if that is not so, or there is none.
    ///
    /// - Parameter names: the names of the apps of the configuration.
    func listableApp(among names: [ClientID: String]) async -> String? {
        var request = ListAccounts(clientID: nil, sharingGroup: sharingGroup)
        guard (try? await agent.listAccounts(request)) == nil else { return nil }
        for (clientID, name) in names.sorted(by: { $0.value < $1.value }) {
            request.clientID = clientID
            if (try? await agent.listAccounts(request)) != nil { return name }
        }
        return nil
    }

    /// Whether an account of any app has exactly this name. An app that may list its own accounts only does not learn it.
    private func isKnown(_ name: AccountName) async throws(TokenError) -> Bool {
        let request = ListAccounts(
            clientID: nil, sharingGroup: sharingGroup, username: name.text, onlySignedIn: false)
        do throws(TokenError) { return try await !agent.listAccounts(request).isEmpty } catch {
            guard error.code == .requestDenied else { throw error }
            return false
        }
    }

    /// The only account that a name means.
    ///
    /// - Parameters:
    ///   - found: the accounts that the name means.
    ///   - command: the same command for another account.
    ///   - placeholder: what the command has in place of an account if several have the name; nil for the first of them.
    ///   - otherwise: the command that helps if no account is similar.
    /// - Throws: `accountNotFound` (-53010), or an ambiguous name with the accounts and exit status 2.
    func account(
        _ name: AccountName, among found: [Account], _ command: (String) -> CommandLineWords,
        placeholder: String? = nil, otherwise: String
    ) async throws -> Account {
        guard let first = found.first else { throw try await unknown(name, command) { _ in otherwise } }
        guard found.count == 1 else {
            throw Self.ambiguous(name, found) { command(placeholder ?? $0) }
        }
        return first
    }

    /// The failure for a name that several accounts have.
    ///
    /// - Parameters:
    ///   - found: the accounts, at least two.
    ///   - command: the same command for one of them.
    static func ambiguous(
        _ name: AccountName, _ found: [Account], _ command: (String) -> CommandLineWords
    ) -> CommandFailure {
        .ambiguous(
            "“\(name.text)” fits several accounts; name one of them", found,
            nextCommand: command(firstName(of: found)).text)
    }

    /// A name of the first account that no other one has: its username, or its identifier.
    static func firstName(of accounts: [Account]) -> String {
        let first = accounts.first
        let username = first?.username
        let isUnique = accounts.dropFirst().allSatisfy { $0.username?.lowercased() != username?.lowercased() }
        return (isUnique ? username : nil) ?? first?.homeAccountID?.text ?? username ?? "NAME"
    }

    /// The failure for a name that no account has, with the accounts that there are.
    ///
    /// - Parameters:
    ///   - command: the same command for another account.
    ///   - otherwise: the command that helps if no account is similar; its argument is whether anybody is signed in.
    func unknown(
        _ name: AccountName, _ command: (String) -> CommandLineWords, otherwise: (Bool) -> String
    ) async throws(TokenError) -> CommandFailure {
        let names = try await accounts(nil, of: nil).compactMap { $0.loginHint ?? $0.homeAccountID?.text }
        let nearest = Suggestion.nearestUsername(to: name.text, among: names)
        let some = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        let others = names.isEmpty ? "; nobody is signed in" : "; signed in: \(some)"
        return CommandFailure(
            TokenError(
                .accountNotFound,
                "no account “\(name.text)” is known\(nearest.map { "; did you mean \($0)?" } ?? others)"),
            nextCommand: nearest.map { command($0).text } ?? otherwise(!names.isEmpty))
    }
}

extension Authority {
    /// The authority of an account's home tenant. Nil if it does not follow from the account: B2C needs a policy, and
    /// any other provider its URL.
    ///
    /// - Parameter localScheme: the URL scheme of a provider on this machine: `http` if the agent allows that.
    init?(of account: Account, localScheme: String) {
        let cloud = CloudDirectory().cloud(of: account.environment)
        let home = account.tenantProfiles.first { $0.isHome } ?? account.tenantProfiles.first
        guard let realm = (home?.realm ?? account.homeAccountID?.tenantID)?.trimmedNonEmpty, !realm.contains("/") else {
            return nil
        }
        let host = cloud.preferredNetwork
        let isLocal = URLParts.isLoopback(host: URLParts.host(ofEnvironment: host))
        guard isLocal || CloudDirectory.isBuiltIn(host) || realm == "adfs" || host.hasSuffix(".ciamlogin.com"),
            let authority = try? Authority("\(isLocal ? localScheme : "https")://\(host)/\(realm)")
        else { return nil }
        self = authority
    }
}
