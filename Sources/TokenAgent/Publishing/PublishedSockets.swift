internal import AccessPolicy
internal import CAgentSystem
internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The published sockets: opens, lists and closes them. They are kept in memory only, and end with the agent.
///
/// Used on the actor of `CacheOwner` only.
final class PublishedSockets {
    /// What the server does for published sockets.
    struct Server {
        let files: SocketFiles
        let audit: AuditTrail?
        /// Accepts connections of a listening descriptor.
        let open: (Publication, Int32) -> EventLoopFuture<any Channel>
        /// Closes the connections of a socket.
        let closeConnections: (Publication) -> Void
        /// The number of a socket's connections.
        let connections: (Publication) -> Int
    }

    private struct Active {
        let publication: Publication
        let listener: any Channel
        let timer: Timers.Timer
        /// The end of the socket, in seconds of the machine's uptime.
        let uptimeAtEnd: Int64
        /// The positions of lists that were returned to peers: a position names an account, which need not be one of the socket's.
        var positions: [String: String] = [:]
        var lastPosition = 0
    }

    private let memory: CacheMemory
    private let tasks: TaskTracker
    private let loop: any EventLoop
    private let now: @Sendable () -> Int64
    private let uptime: @Sendable () -> Int64
    private let logger: Logger
    private let ownUser: UInt32
    private var server: Server?
    private var active: [Active] = []
    /// The sockets that are being opened.
    private var pending: [Publication] = []
    private var lastID: UInt64 = 0
    private var isStopping = false

    /// - Parameter uptime: as `AgentOptions.uptime`.
    init(_ core: AgentCore, userID: UInt32, uptime: @escaping @Sendable () -> Int64) {
        memory = core.memory
        tasks = core.tasks
        loop = core.loop
        now = core.now
        self.uptime = uptime
        logger = core.logger
        ownUser = userID
    }

    /// Sets what the server does, before the first request.
    func start(_ server: Server) { self.server = server }

    /// Opens a socket.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) for values that are not possible, `accountNotFound` (-53010) or
    ///   `ambiguousAccount` (-51200) if the account is not exactly one.
    func publish(_ request: PublishSocket) async throws(TokenError) -> PublishedSocket {
        guard let server, !isStopping else { throw Self.stopping }
        // They would keep their paths, labels and places.
        closeOverdue()
        let publication = try publication(for: request)
        pending.append(publication)
        defer { pending.removeAll { $0.id == publication.id } }
        let descriptor = try await server.files.make(
            publication.path, for: publication.summary.userIDs, on: loop
        ).outcome()
        guard !isStopping else {
            close(descriptor)
            await remove(publication, server)
            throw Self.stopping
        }
        let opened = try? await server.open(publication, descriptor).get()
        guard let listener = opened, !isStopping else {
            opened?.close(promise: nil)
            await remove(publication, server)
            throw isStopping
                ? Self.stopping
                : TokenError(.internalError, "cannot listen on \(publication.path)")
        }
        let lifetime = max(publication.expiresOn - now(), 0)
        let timer = tasks.schedule(after: .seconds(lifetime)) { [weak self] in self?.expire(publication.id) }
        active.append(
            Active(publication: publication, listener: listener, timer: timer, uptimeAtEnd: uptime() + lifetime))
        watch(listener, of: publication)
        logger.notice(
            "published",
            metadata: ["socket": "\(RequestLog.safe(publication.label))", "seconds": "\(request.lifetime)"])
        return publication.summary
    }

    /// The published sockets whose time is not over, the oldest first.
    var list: [PublishedSocket] {
        current.map { entry in
            var socket = entry.publication.summary
            socket.connections = Int64(server?.connections(entry.publication) ?? 0)
            // The seconds of the two clocks begin at different moments.
            let end = now() + timeLeft(of: entry)
            if end < socket.expiresOn - 1 { socket.expiresOn = end }
            return socket
        }
    }

    /// The paths of the published sockets whose time is not over.
    var paths: [String] { current.map(\.publication.path) }

    /// The sockets whose time is not over. The others are closed by their timers, or by ``closeOverdue()``.
    private var current: [Active] { active.filter { timeLeft(of: $0) > 0 } }

    /// The time that is left of a socket, in seconds: by the clock or, if that is less, by the uptime, since the clock may have been set
    /// back.
    private func timeLeft(of entry: Active) -> Int64 {
        min(entry.publication.expiresOn - now(), entry.uptimeAtEnd - uptime())
    }

    /// Closes the socket with a path or label, and its connections; returns its label, or nil if there is no such socket.
    func unpublish(_ name: String) async -> String? {
        guard let entry = active.first(where: { $0.publication.path == name || $0.publication.label == name }) else {
            return nil
        }
        await end(entry.publication.id)?.value()
        logger.notice("unpublished", metadata: ["socket": "\(RequestLog.safe(entry.publication.label))"])
        return entry.publication.label
    }

    /// Whether a socket is open. One whose time is over is closed: the timer does not count the time of a suspended machine.
    func isServing(_ publication: Publication) -> Bool {
        guard !isStopping else { return true }
        guard let entry = active.first(where: { $0.publication.id == publication.id }) else {
            return pending.contains { $0.id == publication.id }
        }
        guard timeLeft(of: entry) > 0 else {
            expire(publication.id)
            return false
        }
        return true
    }

    /// Stops accepting connections, and removes the files. Connections that are open stay so, until the server ends them.
    func stop() -> EventLoopFuture<Void> {
        isStopping = true
        let entries = active
        active = []
        guard let server else { return loop.makeSucceededVoidFuture() }
        // Released, since its closures refer to the actor that owns this object.
        self.server = nil
        let removals = entries.map { entry in
            entry.timer.cancel()
            entry.listener.close(promise: nil)
            server.audit?.ended(entry.publication)
            return server.files.remove(entry.publication.path, on: loop)
        }
        return EventLoopFuture.andAllComplete(removals, on: loop)
    }

    // MARK: Positions of lists

    /// The name that peers get for the position at which a list continues; nil if the list is complete.
    func cursor(for position: String?, in publication: Publication) -> String? {
        guard let position, let index = active.firstIndex(where: { $0.publication.id == publication.id }) else {
            return nil
        }
        if active[index].positions.count >= Self.positions { active[index].positions.removeAll() }
        active[index].lastPosition += 1
        let name = "\(active[index].lastPosition)"
        active[index].positions[name] = position
        return name
    }

    /// The position for a cursor that a peer has got; nil, which is the start of the list, for any other text.
    func position(of cursor: String?, in publication: Publication) -> String? {
        guard let cursor else { return nil }
        return active.first { $0.publication.id == publication.id }?.positions[cursor]
    }

    // MARK: Ends

    /// Closes the sockets whose time is over: the timers do not count the time of a suspended machine.
    func closeOverdue() {
        for entry in active where timeLeft(of: entry) <= 0 { expire(entry.publication.id) }
    }

    private func expire(_ id: UInt64) {
        guard let publication = active.first(where: { $0.publication.id == id })?.publication else { return }
        endInBackground(publication)
        logger.notice("a published socket has expired", metadata: ["socket": "\(RequestLog.safe(publication.label))"])
    }

    private func watch(_ listener: any Channel, of publication: Publication) {
        listener.closeFuture.assumeIsolated().whenComplete { [weak self] _ in self?.listenerClosed(publication) }
    }

    /// Ends a socket whose listener SwiftNIO has closed, since it could not accept a connection: nobody can reach the socket any more. Has no
    /// effect on one that has ended.
    private func listenerClosed(_ publication: Publication) {
        guard active.contains(where: { $0.publication.id == publication.id }) else { return }
        endInBackground(publication)
        logger.error(
            "a published socket accepts no more connections, and has ended; publish it again",
            metadata: ["socket": "\(RequestLog.safe(publication.label))"])
    }

    /// Closes a socket and its connections at once, without a request. The agent waits for its tasks before the event loop ends.
    private func endInBackground(_ publication: Publication) {
        if let removal = end(publication.id) { tasks.start { () async throws(TokenError) in await removal.value() } }
        server?.audit?.expired(publication)
    }

    /// Closes a socket and its connections at once.
    ///
    /// - Returns: the removal of its file; nil if the socket is closed already.
    private func end(_ id: UInt64) -> EventLoopFuture<Void>? {
        guard let index = active.firstIndex(where: { $0.publication.id == id }), let server else { return nil }
        let entry = active.remove(at: index)
        entry.timer.cancel()
        entry.listener.close(promise: nil)
        server.closeConnections(entry.publication)
        server.audit?.ended(entry.publication)
        return server.files.remove(entry.publication.path, on: loop)
    }

    private func remove(_ publication: Publication, _ server: Server) async {
        await server.files.remove(publication.path, on: loop).value()
    }

    private static let stopping = TokenError(.agentUnavailable, "the agent is stopping")
    /// The number of positions that are remembered for a socket.
    private static let positions = 256
}

extension EventLoopFuture<Void> {
    /// Waits until the future completes.
    fileprivate func value() async { try? await get() }
}

// MARK: Checks of a request

extension PublishedSockets {
    /// The publication that a request asks for.
    private func publication(for request: PublishSocket) throws(TokenError) -> Publication {
        try request.validate()
        let label = request.label ?? request.path
        let others = active.map(\.publication) + pending
        guard others.count < Int(AGENT_SOCKETS) else {
            throw TokenError(
                .invalidDeveloperParameter,
                "\(AGENT_SOCKETS) sockets are published; unpublish one first", .see("ssoctl sockets"))
        }
        if let other = others.first(where: { $0.path == request.path || $0.label == label }) {
            throw TokenError(
                .invalidDeveloperParameter,
                "a socket is published with this path or label",
                .run(CommandLineWords.command("unpublish", other.label).text))
        }
        let account = try request.account.map { (name) throws(TokenError) in
            try self.account(name, in: request.sharingGroup)
        }
        let username = account.flatMap { memory.cache.username(of: $0, in: request.sharingGroup) ?? $0.name }
        let users = Set(request.userIDs.isEmpty ? [ownUser] : request.userIDs)
        lastID += 1
        let reference = account.map { AccountReference(homeAccountID: $0.homeAccountID, username: username) }
        return Publication(
            id: lastID,
            rules: SocketRules(
                userIDs: users, clientIDs: Set(request.clientIDs), sharingGroup: request.sharingGroup,
                scopes: request.scopes, authorities: request.authorities,
                account: reference),
            account: account,
            summary: PublishedSocket(
                path: request.path, label: label, userIDs: users.sorted(), clientIDs: request.clientIDs,
                sharingGroup: request.sharingGroup, scopes: request.scopes, authorities: request.authorities,
                account: reference ?? AccountReference(), expiresOn: now() + request.lifetime, connections: 0))
    }

    /// The one account with an identifier, or else with a username.
    private func account(_ text: String, in group: SharingGroup) throws(TokenError) -> AccountKey {
        let partition = memory.cache.partition(group)
        // The account of some refresh tokens of an earlier version is not known, and none that a request can name.
        let isKnown = { (account: AccountKey) in account.issuer != .unresolved }
        var accounts = HomeAccountID(text).map { partition.accounts(with: $0).filter(isKnown) } ?? []
        if accounts.isEmpty {
            let named = partition.accounts(named: text).filter(isKnown)
            // An account that is known by its username is the same as one of its provider with an identifier, but for a personal one, which
            // the username does not mean then.
            let unidentified = Set(named.filter { $0.homeAccountID == nil }.map(\.issuer))
            let identified = Set(named.filter { $0.homeAccountID != nil && !$0.isPersonal }.map(\.issuer))
            accounts = named.filter { account in
                guard account.homeAccountID != nil else { return !identified.contains(account.issuer) }
                return !account.isPersonal || !unidentified.contains(account.issuer)
            }
        }
        guard let account = accounts.first else {
            throw TokenError(
                .accountNotFound, "no such account is signed in", .see(CommandLineWords.accounts(of: group).text))
        }
        guard accounts.count == 1 else {
            throw TokenError(
                .ambiguousAccount, "several accounts match; name one by its identifier",
                .see(CommandLineWords.accounts(of: group).text))
        }
        return account
    }
}
