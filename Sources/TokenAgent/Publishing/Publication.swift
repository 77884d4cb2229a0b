internal import AccessPolicy
internal import TokenCache
internal import TokenModel

/// A published socket: what it serves, to whom, and until when.
struct Publication: Sendable {
    /// The number of the socket; never used again while the agent runs.
    let id: UInt64
    let rules: SocketRules
    /// The key of the account that the socket is limited to; nil for every account.
    let account: AccountKey?
    /// The description in lists; its number of connections is 0.
    let summary: PublishedSocket

    var path: String { summary.path }
    var label: String { summary.label }
    /// The end of the socket, in seconds since 1970.
    var expiresOn: Int64 { summary.expiresOn }

    /// Whether the socket serves an account: its own, if it is limited to one, at one of its authorities. Accounts of other identity
    /// providers may have the same identifier.
    func serves(_ key: AccountKey, in cache: CredentialCache) -> Bool {
        if let account, account != key { return false }
        let partition = cache.partition(rules.sharingGroup)
        return rules.authorities.isEmpty
            || rules.authorities.contains { cache.isAccount(key, of: $0, in: partition) }
    }

    /// The request without its account, if that is this socket's by any name that the cache has for it: since the socket was published, the
    /// user may have got another one, and the user ID that ADAL gives its apps need not be the username.
    func omittingAccount(of request: AcquireTokenSilent, in cache: CredentialCache) -> AcquireTokenSilent {
        guard let account, request.account.homeAccountID == nil, let name = request.account.username,
            hasName(name, account, in: cache.partition(rules.sharingGroup))
        else { return request }
        var request = request
        request.account = AccountReference()
        return request
    }

    private func hasName(_ name: String, _ account: AccountKey, in partition: Partition) -> Bool {
        partition.accounts(named: name).contains(account) || partition.account(formerlyNamed: name) == account
    }

    /// Refuses a request whose authority leads to another account than this socket's: one of another identity provider.
    func requireAccount(of request: AcquireTokenSilent, in cache: CredentialCache) throws(TokenError) {
        guard let account else { return }
        let (parameters, partition) = (request.parameters, cache.partition(rules.sharingGroup))
        guard cache.accountKey(account.identity, at: parameters.authority, in: partition) == account else {
            throw SocketRules.denied(
                "it serves another provider's account; to serve this one's, publish a socket with --account for it")
        }
    }
}

/// The handlers of the requests that a published socket serves.
struct PublishedHandlers: Sendable {
    let publication: Publication
    private let handlers: [RequestHandler]

    init(_ publication: Publication) {
        self.publication = publication
        let ofCache = [
            RequestHandler(AcquireTokenSilent.self) { owner, request, connection in
                owner.acquireTokenSilent(request, from: connection, through: publication)
            },
            RequestHandler(ListAccounts.self) { owner, request, _ in owner.listAccounts(request, through: publication)
            },
            RequestHandler(GetCurrentAccount.self) { owner, request, _ in
                owner.currentAccount(request, through: publication)
            },
            RequestHandler(GetStatus.self, waits: .untilLoadedOrTimeout) { owner, _, _ in
                owner.status(through: publication)
            },
            RequestHandler(WatchEvents.self, waits: .never, watchesEvents: true) { owner, request, connection in
                owner.watchEvents(request, from: connection, through: publication)
            },
        ]
        let numbers = ([Hello.number] + ofCache.map(\.number)).sorted()
        let hello = RequestHandler(Hello.self, waits: .never) { owner, request, _ in
            owner.hello(request).map { reply in
                var reply = reply
                reply.requests = numbers
                return reply
            }
        }
        handlers = [hello] + ofCache
    }

    func handler(of number: UInt32) -> RequestHandler? { handlers.first { $0.number == number } }
}

/// The requests of published sockets. Each is the agent's own request with the rules of the socket before and after it.
extension CacheOwner {
    /// As ``acquireTokenSilent(_:from:)``.
    func acquireTokenSilent(
        _ request: AcquireTokenSilent, from connection: ConnectionID, through publication: Publication
    ) -> Answer<TokenResult> {
        let rules = publication.rules
        let admitted: AcquireTokenSilent
        do throws(TokenError) {
            admitted = try rules.admitted(publication.omittingAccount(of: request, in: core.memory.cache))
            try publication.requireAccount(of: admitted, in: core.memory.cache)
        } catch {
            return .now(.failure(error))
        }
        return acquireTokenSilent(admitted, from: connection).mapOutcome { rules.checked($0, of: admitted) }
    }

    /// A page of the accounts that the socket serves.
    func listAccounts(_ request: ListAccounts, through publication: Publication) -> Answer<ListAccounts.Reply> {
        do throws(TokenError) {
            guard var admitted = try publication.rules.admitted(request) else {
                return .now(.success(ListAccounts.Reply(accounts: [])))
            }
            admitted.after = sockets.position(of: request.after, in: publication)
            let asked = admitted
            let found = find(in: asked.sharingGroup) { cache, tokens in
                cache.accounts(asked, &tokens) { publication.serves($0, in: cache) }
            }
            guard case .now(let outcome) = found else {
                return later { owner async throws(TokenError) in
                    owner.visible(try await found.outcome(), through: publication)
                }
            }
            return .now(outcome.map { visible($0, through: publication) })
        } catch {
            return .now(.failure(error))
        }
    }

    private func visible(_ reply: ListAccounts.Reply, through publication: Publication) -> ListAccounts.Reply {
        var reply = reply
        reply.accounts = publication.rules.visible(reply.accounts)
        reply.next = sockets.cursor(for: reply.next, in: publication)
        return reply
    }

    /// The app's one account that the socket serves. Unlike for the user's own apps, nothing is recorded, and the reply has no
    /// previous account.
    func currentAccount(
        _ request: GetCurrentAccount, through publication: Publication
    ) -> Answer<GetCurrentAccount.Reply> {
        do throws(TokenError) {
            let rules = publication.rules
            try rules.check(request)
            let list = ListAccounts(clientID: request.clientID, sharingGroup: request.sharingGroup).confined
            let admitted = rules.account == nil ? nil : try rules.admitted(list)
            return find(in: request.sharingGroup) { cache, tokens throws(TokenError) in
                var account: Account?
                if rules.account == nil {
                    let current = try cache.currentAccount(request, &tokens) { publication.serves($0, in: cache) }
                    account = current.reply.account
                } else if let admitted {
                    let list = cache.accounts(admitted, &tokens) { publication.serves($0, in: cache) }
                    account = rules.visible(list.accounts).first
                }
                return GetCurrentAccount.Reply(account: rules.visible(account.map { [$0] } ?? []).first)
            }
        } catch {
            return .now(.failure(error))
        }
    }

    /// The events of the accounts that the socket serves.
    func watchEvents(
        _ request: WatchEvents, from connection: ConnectionID, through publication: Publication
    ) -> Answer<WatchEvents.Reply> {
        do throws(TokenError) {
            let list = ListAccounts(clientID: request.clientID, sharingGroup: request.sharingGroup).confined
            _ = try publication.rules.admitted(list)
            return try core.events.next(request, from: connection, through: publication)
        } catch {
            return .now(.failure(error))
        }
    }

    /// The state of the agent for peers of a published socket: its version, and whether it can serve.
    func status(through publication: Publication) -> Answer<AgentStatus> {
        status(GetStatus()).map { status in
            AgentStatus(
                processID: 0, version: status.version, protocolVersion: status.protocolVersion,
                socketPath: publication.path, stateDirectory: "", uptimeSeconds: 0, accounts: 0,
                storeProblem: status.storeProblem == nil ? nil : "the store is not open, or cannot be written")
        }
    }
}
