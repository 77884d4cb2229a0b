internal import AgentClient
internal import TokenModel

/// The tokens of the accounts of a sharing group, without those that name no user.
struct AccountTokens {
    /// Whether a provider of this machine has issued a token without TLS.
    private var hasTokenWithoutTLS = false
    private var ofIdentifier: [String: [Credential]] = [:]
    /// The tokens of accounts that are known by a username alone, in lower case.
    private var ofName: [String: [Credential]] = [:]

    init(_ credentials: [Credential]) {
        for credential in credentials {
            if credential.authority.hasPrefix("http://") { hasTokenWithoutTLS = true }
            if let identifier = credential.account.homeAccountID?.text {
                ofIdentifier[identifier, default: []].append(credential)
            } else if let username = credential.account.username?.lowercased() {
                ofName[username, default: []].append(credential)
            }
        }
    }

    /// Lists the tokens, without their secrets.
    ///
    /// - Parameter isRequired: whether it is an error if this process may not list them; otherwise the result is nil.
    static func read(
        _ agent: AgentClient, _ group: SharingGroup, isRequired: Bool
    ) async throws(TokenError) -> AccountTokens? {
        do throws(TokenError) {
            let request = ListCredentials(sharingGroup: group, withoutSecrets: true)
            return AccountTokens(try await agent.listCredentials(request))
        } catch  where error.code == .requestDenied && !isRequired {
            return nil
        }
    }

    private func credentials(of identifier: String?, _ username: String?) -> [Credential] {
        (identifier.flatMap { ofIdentifier[$0] } ?? [])
            + (Self.isPersonal(identifier) ? [] : username.flatMap { ofName[$0.lowercased()] } ?? [])
    }

    /// Whether an identifier is that of a personal account, to which no token belongs that only a username identifies.
    private static func isPersonal(_ identifier: String?) -> Bool {
        identifier.flatMap { HomeAccountID($0) }?.isPersonal ?? false
    }

    /// The URL scheme of providers on this machine, as the agent has it.
    var localScheme: String { hasTokenWithoutTLS ? "http" : "https" }

    /// The tokens of some accounts. Those of an identifier, and those that belong to a username alone, are listed once, if several accounts
    /// have it.
    func credentials(of accounts: [Account]) -> [Credential] {
        var names: Set<String?> = []
        var identifiers: Set<String?> = []
        return accounts.flatMap { account in
            let own = account.homeAccountID?.text
            let identifier = identifiers.insert(own).inserted ? own : nil
            guard Self.isPersonal(own) || !names.insert(account.username?.lowercased()).inserted else {
                return credentials(of: identifier, account.username)
            }
            return identifier.flatMap { ofIdentifier[$0] } ?? []
        }
    }

    /// The tokens of an account, summarised.
    struct Summary {
        enum State: String {
            case signedIn
            /// There is a valid token, and none to renew it with.
            case notRenewable
            case signedOut

            var text: String {
                switch self {
                case .signedIn: "signed in"
                case .notRenewable: "not renewable"
                case .signedOut: "signed out"
                }
            }
        }

        /// The names of the apps, or their client IDs.
        var apps: [String]
        var state: State
        /// The end of the token that is valid longest; nil if none is valid.
        var validUntil: Int64?
    }

    /// The apps, whether the account is signed in, and the time until which a token is valid.
    ///
    /// - Parameter namesakes: the accounts with the same identifier, each of another provider and with tokens of its own.
    func summary(
        of account: AccountJSON, among namesakes: [AccountJSON], _ names: [ClientID: String], now: Int64
    ) -> Summary {
        let own = credentials(of: account.identifier, account.username).filter { credential in
            guard namesakes.count > 1, let issuer = try? Authority(credential.authority, kind: .openID) else {
                return true
            }
            return account.isOf(issuer) || !namesakes.contains { $0.isOf(issuer) }
        }
        var apps: [String] = []
        for credential in own where !credential.namesNoApp {
            let app = names[credential.clientID] ?? credential.clientID.text
            if !apps.contains(app) { apps.append(app) }
        }
        let isSignedIn = own.contains { $0.kind == .refreshToken }
        let end = own.compactMap { $0.kind == .accessToken ? $0.expiresOn : nil }.max().flatMap { $0 > now ? $0 : nil }
        return Summary(
            apps: apps, state: isSignedIn ? .signedIn : end != nil ? .notRenewable : .signedOut, validUntil: end)
    }
}

extension Credential {
    /// Whether this is a family's refresh token with the family's client ID, which no app has.
    var namesNoApp: Bool { clientID == familyID?.clientID }
}

/// A token as JSON and as a row of a table, without its secret.
struct CredentialJSON: JSONObject {
    var account: AccountNamesJSON?
    var authority: String
    var clientId: String
    var expiresOn: Int64?
    var familyId: String?
    var kind: String
    var scopes: [String]

    init(_ credential: Credential) {
        kind = credential.kind == .refreshToken ? "refreshToken" : "accessToken"
        (clientId, authority, scopes) = (credential.clientID.text, credential.authority, credential.scopes.scopes)
        (expiresOn, familyId) = (credential.expiresOn, credential.familyID?.text)
        account = AccountNamesJSON(credential.account)
    }

    func write(to output: inout JSONOutput) {
        output.member("account", account)
        output.member("authority", authority)
        output.member("clientId", clientId)
        output.member("expiresOn", expiresOn)
        output.member("familyId", familyId)
        output.member("kind", kind)
        output.member("scopes", scopes)
    }

    func row(_ names: [ClientID: String], now: Int64) -> [String] {
        [
            account?.text ?? "", kind == "refreshToken" ? "refresh" : "access",
            ClientID(clientId).flatMap { names[$0] } ?? clientId, authority,
            scopes.isEmpty ? "any" : scopes.joined(separator: " "),
            expiresOn.map { $0 > now ? Phrases.moment($0, now: now) : "expired" } ?? "-",
        ]
    }
}
