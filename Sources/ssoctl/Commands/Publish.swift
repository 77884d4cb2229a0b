internal import AgentClient
internal import AgentConfiguration
internal import AgentSocket
internal import ArgumentParser
internal import TokenModel

/// Publishes a socket for a sandbox, a container or other users.
struct PublishCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish a socket on which a sandbox, a container or other users get tokens of some apps.",
        discussion: """
            The socket serves silent requests, and lists of accounts, of these apps only; nobody can sign in, export or change \
            anything there. It ends after --ttl, with unpublish, and when the agent stops. Whoever connects gets access tokens of \
            the account: without --account of each account, without --scope and --resource for everything that the apps may do. \
            The agent asks for a confirmation, on the terminal unless the configuration says otherwise.

            The folder of the socket must be yours, and nobody else may be able to write to it. Other users set SSO_AGENT_SOCK to the \
            path and SSO_AGENT_OWNER to your user ID.

            Examples:
              ssoctl publish --socket $XDG_RUNTIME_DIR/ci.sock --app graph --ttl 30m
              ssoctl publish --socket /srv/db.sock --client-id ID --uid 1001 --ttl 8h
            """)

    @OptionGroup(title: "Socket") var socket: PublishedSocketOptions
    @OptionGroup(title: "What it serves") var access: PublishedAccessOptions
    @OptionGroup var output: OutputOptions

    var writesMeanwhile: Bool { true }

    func execute(_ agent: AgentClient) async throws -> SocketPrintout {
        let apps = try access.allApps { command(apps: $0) }
        let account = try await account(AccountFinder(agent: agent, sharingGroup: apps.group))
        // The agent checks it too, after the user has confirmed the request.
        if let defect = PublishedSocketFolder.defect(ofSocket: socket.path) {
            throw TokenError(.invalidDeveloperParameter, defect.after("cannot publish \(socket.path): "))
        }
        return SocketPrintout(
            try await agent.publishSocket(
                PublishSocket(
                    path: socket.path, userIDs: socket.userIDs, clientIDs: apps.clientIDs,
                    sharingGroup: apps.group, scopes: access.allScopes, authorities: try access.namedAuthorities(),
                    account: account, lifetime: socket.lifetime, label: socket.label)), access.appNames)
    }

    /// The name or the identifier of the account that is served, as the agent takes it; nil for every account.
    private func account(_ finder: AccountFinder) async throws -> String? {
        guard let text = access.account?.trimmedNonEmpty else { return nil }
        let name = AccountName(text)
        let found = try await finder.accounts(name, of: nil)
        // An exact name of several accounts may be one for the agent, which knows which of them are the same.
        let isExact = found.allSatisfy { account in
            account.username?.lowercased() == text.lowercased()
                || account.homeAccountID != nil && account.homeAccountID == name.homeAccountID
        }
        if !found.isEmpty, isExact { return text }
        let account = try await finder.account(
            name, among: finder.accounts(name, of: nil), { command(account: $0) }, otherwise: finder.list)
        return account.username ?? account.homeAccountID?.text ?? text
    }

    /// The words of this command for another account, or for other apps.
    private func command(account: String? = nil, apps: [String]? = nil) -> CommandLineWords {
        let account = CommandLineWords.option("--account", account ?? access.account)
        return CommandLineWords(["ssoctl", "publish", "--socket", socket.path] + account)
            + (apps ?? access.apps).flatMap { ["--app", $0] }
            + access.clientIDs.flatMap { CommandLineWords.option("--client-id", $0.text) }
            + access.scopes.flatMap { CommandLineWords.option("--scope", $0) }
            + access.resources.flatMap { CommandLineWords.option("--resource", $0) }
            + access.authorities.flatMap { ["--authority", $0] } + socket.userIDs.flatMap { ["--uid", "\($0)"] }
            + (access.kind.map { ["--authority-kind", $0.rawValue] } ?? [])
            + CommandLineWords.option("--group", access.group?.name)
            + CommandLineWords.option("--label", socket.label)
            + (socket.lifetime == PublishSocket.standardLifetime ? [] : ["--ttl", "\(socket.lifetime)"])
    }

    func describe(_ socket: SocketPrintout) -> String? { socket.text }
}

/// The place of the socket, its users and its lifetime.
struct PublishedSocketOptions: ParsableArguments {
    @Option(name: .customLong("socket"), help: "The absolute path of the socket.", completion: .file())
    var path: String

    @Option(
        name: .customLong("uid"), parsing: .upToNextOption,
        help: "The ID of a user who may connect; may be repeated. By default your own.")
    var userIDs: [UInt32] = []

    @Option(
        name: .customLong("ttl"),
        help: "The time until the socket is closed, such as 90s, 30m or 8h; at most 24h. By default 8h.",
        transform: Self.seconds)
    var lifetime = PublishSocket.standardLifetime

    @Option(help: "The name of the socket in lists and in the audit log. By default its path.")
    var label: String?

    func validate() throws {
        guard path.hasPrefix("/") else { throw ValidationError("--socket must be an absolute path.") }
    }

    @Sendable private static func seconds(_ text: String) throws -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? text[...] : text.dropLast()), number > 0 else {
            throw ValidationError("“\(text)” is not a time, such as 90s, 30m or 8h")
        }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLong, seconds <= PublishSocket.longestLifetime else {
            throw ValidationError("a socket is published for 24 hours at most")
        }
        return seconds
    }
}

/// The apps, scopes and account whose tokens the socket serves.
struct PublishedAccessOptions: ParsableArguments {
    @Option(
        name: .customLong("app"), parsing: .upToNextOption,
        help: "The name of an app in the configuration whose tokens are served; may be repeated.",
        completion: Candidates.app)
    var apps: [String] = []

    @Option(
        name: .customLong("client-id"), parsing: .upToNextOption,
        help: "The application (client) ID of such an app; may be repeated.", completion: Candidates.clientID,
        transform: ClientID.option)
    var clientIDs: [ClientID] = []

    @Option(
        name: .customLong("scope"), parsing: .upToNextOption,
        help: "A permission that tokens may have, or several with blanks or commas between them; may be repeated.",
        completion: Candidates.scope)
    var scopes: [String] = []

    @Option(
        name: .customLong("resource"), parsing: .upToNextOption,
        help: "A resource that tokens may be for, with all its scopes; may be repeated.",
        completion: Candidates.resource)
    var resources: [String] = []

    @Option(
        help: "The account: its identifier, its name, or the beginning of its name. By default every account.",
        completion: Candidates.account)
    var account: String?

    @Option(
        name: .customLong("authority"), parsing: .upToNextOption,
        help:
            "An authority that requests may name; may be repeated, and is needed for B2C and External ID. By default those of the account's home tenant.",
        completion: Candidates.authority)
    var authorities: [String] = []

    @Option(name: .customLong("authority-kind"), help: "The kind of the authorities, if their URL does not tell.")
    var kind: AuthorityKindName?

    @Option(
        help: "The sharing group. By default that of the apps, or the one of Microsoft's libraries.",
        completion: Candidates.group, transform: SharingGroup.option)
    var group: SharingGroup?

    func validate() throws {
        guard !clientIDs.isEmpty || !apps.isEmpty else { throw ValidationError("Name an app: --app or --client-id.") }
        // An empty list of scopes would publish all of them.
        guard scopes.allSatisfy({ !ScopeList.split([$0]).isEmpty }),
            resources.allSatisfy({ $0.trimmedNonEmpty != nil })
        else { throw ValidationError("--scope and --resource must not be blank.") }
        try ScopeList.requireValid(scopes)
        guard account.map({ $0.trimmedNonEmpty != nil }) ?? true else {
            throw ValidationError("--account must not be blank.")
        }
        for url in authorities { try ProviderChoice.validate(url, kind) }
    }

    /// The client IDs, with those of the named apps, and their sharing group.
    ///
    /// - Parameter command: the same command for other apps, in case that a name is not right.
    /// - Throws: usage if an app is not in the configuration, or if the apps have different groups.
    func allApps(
        _ command: ([String]) -> CommandLineWords
    ) throws(CommandFailure) -> (clientIDs: [ClientID], group: SharingGroup) {
        guard !apps.isEmpty else { return (clientIDs, group ?? .standard) }
        let settings = try Settings.read()
        var named: [ConfiguredApp] = []
        for name in apps {
            named.append(try settings.app(named: name) { right in command(apps.map { $0 == name ? right : $0 }) })
        }
        let groups = Set(named.map(\.sharingGroup) + (clientIDs.isEmpty ? [] : [.standard]))
        guard let group = group ?? (groups.count == 1 ? groups.first : nil) else {
            throw .usage(
                "the apps have different sharing groups; publish a socket for each of them",
                nextCommand: "ssoctl app show \(named[0].name)")
        }
        return (clientIDs + named.map(\.clientID), group)
    }

    /// The names of the configuration's apps; of several with one client ID, that of the first app of the command line.
    var appNames: [ClientID: String] {
        guard let settings = try? Settings.read() else { return [:] }
        return settings.appNames(first: apps.first.flatMap { settings.configuration.app(named: $0) })
    }

    func namedAuthorities() throws(TokenError) -> [Authority] {
        var named: [Authority] = []
        for authority in authorities { named.append(try Authority(authority, kind: kind?.kind)) }
        return named
    }

    /// The scopes, and those of the resources.
    var allScopes: ScopeSet {
        ScopeSet(ScopeList.split(scopes) + resources.compactMap { ScopeSet(resource: $0).scopes.first })
    }
}

/// Lists the published sockets.
struct SocketsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "sockets", abstract: "List the published sockets.",
        discussion: """
            Examples:
              ssoctl sockets
              ssoctl sockets --json | jq -r '.sockets[].path'
            """)

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var sockets: [SocketPrintout]
    }

    func execute(_ agent: AgentClient) async throws(TokenError) -> Printout {
        // A configuration that cannot be read is reported by other commands.
        let names = (try? Settings.read())?.appNames() ?? [:]
        return Printout(sockets: try await agent.listSockets().map { SocketPrintout($0, names) })
    }

    func describe(_ list: Printout) -> String? {
        list.sockets.isEmpty ? "No sockets are published." : list.sockets.map(\.text).joined(separator: "\n")
    }
}

/// Closes a published socket.
struct UnpublishCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "unpublish", abstract: "Close a published socket and its connections, and remove its file.",
        discussion: """
            Examples:
              ssoctl unpublish $XDG_RUNTIME_DIR/ci.sock
            """)

    @Argument(help: "The path or the label of the socket.", completion: Candidates.socket)
    var socket: String

    @OptionGroup var output: OutputOptions

    struct Printout: Encodable {
        var unpublished: String
    }

    func execute(_ agent: AgentClient) async throws -> Printout {
        guard let name = socket.trimmedNonEmpty,
            let label = try await agent.unpublishSocket(UnpublishSocket(name: name))
        else {
            throw CommandFailure(
                TokenError(.invalidDeveloperParameter, "nothing is published as “\(socket)”"),
                nextCommand: "ssoctl sockets")
        }
        return Printout(unpublished: label)
    }

    func describe(_ printout: Printout) -> String? {
        ["\(printout.unpublished) is not published any more."].joinedLines
    }
}

/// A published socket as JSON, and as text.
struct SocketPrintout: Encodable {
    var path: String
    var label: String
    var userIds: [UInt32]
    var clientIds: [String]
    /// The names of the apps, or their client IDs.
    var apps: [String]
    var group: String
    /// Empty for every scope.
    var scopes: [String]
    /// Empty for those of the account's home tenant.
    var authorities: [String]
    /// The account, as it was named; nil for every account.
    var account: AccountNamesJSON?
    var expiresOn: Int64
    var connections: Int64

    /// - Parameter names: the names of the configuration's apps.
    init(_ socket: PublishedSocket, _ names: [ClientID: String]) {
        path = socket.path
        label = socket.label
        userIds = socket.userIDs
        clientIds = socket.clientIDs.map(\.text)
        apps = socket.clientIDs.map { names[$0] ?? $0.text }
        group = socket.sharingGroup.name
        scopes = socket.scopes.scopes
        authorities = socket.authorities.map(\.url)
        account = AccountNamesJSON(socket.account)
        expiresOn = socket.expiresOn
        connections = socket.connections
    }

    var text: String {
        let name = label == path ? path : "\(label): \(path)"
        let access = """
                users \(userIds.map { "\($0)" }.joined(separator: ", ")); apps \(apps.joined(separator: ", ")); \
            account \(account?.text ?? "any"); scopes \(scopes.isEmpty ? "any" : scopes.joined(separator: " "))
            """
        let end = Phrases.moment(expiresOn, now: Terminal.now)
        return [name, access, "    until \(end); \(Phrases.count(connections, "connection"))"].joinedLines
    }
}
