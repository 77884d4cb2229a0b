internal import AgentClient
internal import AgentConfiguration
internal import ArgumentParser
internal import TokenModel

/// The values that a shell offers for an argument when the user presses Tab, from the configuration and from the agent.
enum Candidates {
    /// The names of apps.
    static let app = offer { apps.map(\.name) }

    /// The client IDs of apps: of the configuration, and those that the agent has tokens of.
    static let clientID = offer {
        let cached = await credentials
        return apps.map(\.clientID.text) + cached.map(\.clientID.text)
    }

    /// The usernames of accounts; the identifier of an account without one.
    static let account = offer { await accounts.compactMap { name(of: $0) } }

    /// The usernames of accounts.
    static let username = offer { await accounts.compactMap(\.loginHint) }

    /// The names of apps and of accounts.
    static let appOrAccount = offer {
        let known = await accounts
        return apps.map(\.name) + known.compactMap { name(of: $0) }
    }

    /// The scopes of the configuration's apps and of cached tokens, and common ones of Microsoft Graph.
    static let scope = offer {
        let cached = await credentials
        return apps.flatMap(\.scopes) + cached.flatMap(\.scopes.scopes) + [
            "User.Read", "Mail.Read", "Calendars.Read", "Files.Read", "openid", "profile", "offline_access",
            "https://graph.microsoft.com/.default", "https://management.azure.com/.default",
        ]
    }

    /// The resources of the configuration's apps, and common ones of Microsoft.
    static let resource = offer {
        apps.compactMap(\.resource) + [
            "https://graph.microsoft.com", "https://management.azure.com", "https://vault.azure.net",
            "https://storage.azure.com", "https://database.windows.net",
        ]
    }

    /// The authorities of the configuration's apps, and those of Microsoft's clouds.
    static let authority = offer {
        apps.compactMap(\.authority?.url) + CloudName.allCases.map { Authority(cloud: $0, tenant: nil).url }
    }

    /// The tenants that have a name of their own, and the domains of accounts.
    static let tenant = offer {
        // One of AD FS or B2C may have no domain.
        let usernames = await accounts.compactMap(\.username).filter { $0.contains("@") }
        let domains = usernames.compactMap { $0.split(separator: "@").last.map(String.init) }
        return ["organizations", "consumers", "common"] + domains
    }

    /// The sharing groups of the configuration's apps, and the standard one.
    static let group = offer { groups.map(\.name) }

    /// The labels and paths of published sockets.
    static let socket = offer {
        await listed("list_sockets") { try await $0.listSockets() }.flatMap { [$0.label, $0.path] }
    }

    private static func name(of account: Account) -> String? {
        account.loginHint ?? account.homeAccountID?.text
    }

    private static func offer(_ words: @escaping @Sendable () async -> [String]) -> CompletionKind {
        .custom { (_: [String], _: Int, _: String) async -> [String] in
            CompletionRun.words(await words(), for: CompletionShell.requesting)
        }
    }

    // MARK: Sources

    /// Read once: the process ends with the candidates of one Tab.
    private static let settings = try? Settings.read()
    private static let agent = AgentClient(
        appName: "ssoctl", timeout: CompletionRun.timeout, keepsResults: false)

    private static var apps: [ConfiguredApp] { settings?.configuration.apps ?? [] }

    private static var groups: [SharingGroup] {
        apps.reduce(into: [.standard]) { groups, app in
            if !groups.contains(app.sharingGroup) { groups.append(app.sharingGroup) }
        }
    }

    private static var accounts: [Account] {
        get async {
            var accounts: [Account] = []
            for group in groups {
                accounts += await listed("list_accounts") {
                    try await $0.listAccounts(ListAccounts(clientID: nil, sharingGroup: group))
                }
            }
            return accounts
        }
    }

    private static var credentials: [Credential] {
        get async {
            var credentials: [Credential] = []
            for group in groups {
                credentials += await listed("list_credentials") {
                    try await $0.listCredentials(ListCredentials(sharingGroup: group, withoutSecrets: true))
                }
            }
            return credentials
        }
    }

    /// The list that the agent returns. Empty if it does not answer, or if a person could be asked: a rule requires a confirmation, or the
    /// rules cannot be read.
    ///
    /// - Parameter request: the name of the request.
    private static func listed<Value>(
        _ request: String, _ list: (AgentClient) async throws -> [Value]
    ) async -> [Value] {
        guard CompletionRun.mayAskAgent, let rules = settings?.configuration, !rules.confirms(request) else {
            return []
        }
        return (try? await list(agent)) ?? []
    }
}
