internal import AccessPolicy
internal import AuditLog
internal import Logging
internal import NIOCore
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore
internal import TokenWire

/// Answers requests from the cache; the actor on which the cache, and every part that reads or changes it, is used.
///
/// The actor is pinned to the event loop that serves the connections. They enter it with `assumeIsolated`, so that a cache hit costs
/// a function call and the compiler still checks the isolation. A request is one method here, which calls the part that answers
/// it. After an `await` any state may have changed.
actor CacheOwner {
    nonisolated let loop: any EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    let core: AgentCore
    let sockets: PublishedSockets
    let redeemer: RefreshTokenRedeemer
    private let silentRequests: SilentRequests
    private let currentAccounts: CurrentAccounts
    let signIns: SignInSessions
    private let signOutPages: SignOutPages
    private let transfers: CacheTransfers
    let lifecycle: StoreLifecycle
    let diagnosis: AgentHealth
    private let audit: AuditTrail?
    /// The access policy in effect.
    private(set) var policy: PeerPolicy
    let configuration: ConfigurationReload
    private let endpoint: TokenEndpointClient

    init(
        loop: any EventLoop, options: AgentOptions, store: Store, endpoint: TokenEndpointClient, metrics: AgentMetrics,
        audit: AuditTrail?
    ) {
        self.loop = loop
        self.audit = audit
        policy = options.policy
        configuration = ConfigurationReload(options)
        self.endpoint = endpoint
        let core = AgentCore(
            loop: loop, timers: options.timers, store: store, service: endpoint,
            metrics: metrics, now: options.now, logger: options.logger)
        let lifecycle = StoreLifecycle(core, store: store)
        redeemer = RefreshTokenRedeemer(core)
        silentRequests = SilentRequests(core, redeemer)
        currentAccounts = CurrentAccounts(core)
        signIns = SignInSessions(
            core, userID: options.policy.userID, browserTimeout: options.httpTiming.browser)
        signOutPages = SignOutPages(core)
        transfers = CacheTransfers(core, options)
        sockets = PublishedSockets(core, userID: options.policy.userID, uptime: options.uptime)
        diagnosis = AgentHealth(core, lifecycle: lifecycle, sockets: sockets, audit: audit, options: options)
        self.core = core
        self.lifecycle = lifecycle
    }

    /// Returns an access token without user interaction: a cached one, or one that a redemption brings.
    ///
    /// Entered with `assumeIsolated` from the connection's channel handler. A hit is answered before this returns.
    func acquireTokenSilent(_ request: AcquireTokenSilent, from connection: ConnectionID) -> Answer<TokenResult> {
        let request = request.withoutReservedScopes
        if let refusal = core.authorities.refusal(of: request.parameters) { return .now(.failure(refusal)) }
        if let answer = lifecycle.earlyAnswer(to: request) { return Answer.now(answer).withSingleIDToken(for: request) }
        return silentRequests.answer(request, from: connection)
    }

    /// Returns the reply to a silent request that repeats an earlier one; nil if the request has to be decoded and decided.
    ///
    /// The access policy decides for each peer, and the audit log gets an event. The connection's last request, if it is repeated, has
    /// the same decision: other rules would have discarded its reply.
    func keptReply(to frame: ArraySlice<UInt8>, after last: LastHit) -> RepeatedReply? {
        let peer = last.peer
        // At a published socket, the same request may be refused.
        guard peer.publication == nil, lifecycle.isLoaded, !peer.log.logsEveryRequest,
            let hit = core.replies.hit(frame, at: core.now(), after: last.hit, isConfined: peer.isConfined)
        else { return nil }
        if last.hit?.isRepeated(by: hit) != true {
            guard peer.sharesGenerations || !hit.entry.hasFreshness,
                policy.decision(on: hit.entry.policyRequest, from: peer.identity) == .allow,
                peer.audit == nil || hit.entry.event != nil
            else { return nil }
            (last.hit, last.line) = (hit, nil)
        }
        if let audit = peer.audit, !audit.count(last.line), let event = hit.entry.event {
            last.line = audit.record(event, from: peer)
        }
        core.metrics.countRepeatedHit()
        return hit.reply(to: frame)
    }

    func redeemGrant(_ request: RedeemGrant, from connection: ConnectionID) -> Answer<TokenResult> {
        if let refusal = core.authorities.refusal(of: request.parameters) { return .now(.failure(refusal)) }
        return .later(redeemer.redeem(request, from: connection))
    }

    func beginInteractive(_ request: BeginInteractive, from connection: ConnectionID) -> Answer<BeginInteractive.Reply>
    {
        beginSignIn(request.parameters, from: connection) { owner, id async throws(TokenError) in
            try await owner.signIns.begin(request, as: id)
        }
    }

    func completeInteractive(_ request: CompleteInteractive, from connection: ConnectionID) -> Answer<TokenResult> {
        later { owner async throws(TokenError) in try await owner.signIns.complete(request, for: connection) }
    }

    func beginDeviceCode(_ request: BeginDeviceCode, from connection: ConnectionID) -> Answer<BeginDeviceCode.Reply> {
        beginSignIn(request.parameters, from: connection) { owner, id async throws(TokenError) in
            try await owner.signIns.begin(request, as: id)
        }
    }

    func completeDeviceCode(_ request: CompleteDeviceCode, from connection: ConnectionID) -> Answer<TokenResult> {
        later { owner async throws(TokenError) in try await owner.signIns.complete(request, for: connection) }
    }

    func cancelInteraction(_ request: CancelInteraction) -> Answer<CancelInteraction.Reply> {
        signIns.cancel(request.sessionID)
        return .now(.success(CancelInteraction.Reply()))
    }

    func listAccounts(_ request: ListAccounts) -> Answer<ListAccounts.Reply> {
        find(in: request.sharingGroup) { cache, tokens in cache.accounts(request, &tokens) }
    }

    func listCredentials(_ request: ListCredentials) -> Answer<ListCredentials.Reply> {
        let scheme = endpoint.allowsLoopbackHTTP ? "http" : "https"
        return find(in: request.sharingGroup) { cache, tokens in
            cache.credentials(request, localScheme: scheme, &tokens)
        }
    }

    /// Returns the app's one account, and the account of the app's previous request. The agent stores the former before it
    /// replies. If it cannot be written, the next commit tries again, and the reply is the same.
    func currentAccount(_ request: GetCurrentAccount) -> Answer<GetCurrentAccount.Reply> {
        currentAccounts.answer(request)
    }

    /// Answers with what `body` finds in the cache. If that needs tokens that are in the store only, they are read first.
    func find<Value: Sendable>(
        in group: SharingGroup,
        _ body: @escaping @Sendable (CredentialCache, _ tokens: inout ListedTokens) throws(TokenError) -> Value
    ) -> Answer<Value> {
        let rest: TokenReader.UnfinishedList
        do throws(TokenError) {
            let found = try core.reader.find(in: group, body)
            if let value = found.value { return .now(.success(value)) }
            rest = found.rest
        } catch {
            return .now(.failure(error))
        }
        return later { owner async throws(TokenError) in try await owner.core.reader.finish(rest, in: group, body) }
    }

    /// Removes what belongs to an account. The pages for the browser are looked for meanwhile, since the removal deletes what leads to them.
    func removeAccount(_ request: RemoveAccount) -> Answer<RemoveAccount.Reply> {
        let pages = request.wantsSignOutPages ? signOutPages.find(for: request) : nil
        let removal = finish(core.removals.begin(removing: request))
        guard let pages else { return removal.map { RemoveAccount.Reply(removed: $0) } }
        return later { owner async throws(TokenError) in
            let removed = try await removal.outcome()
            return RemoveAccount.Reply(removed: removed, signOutPages: (try? await pages.outcome()) ?? [])
        }
    }

    func removeCredential(_ request: RemoveCredential) -> Answer<RemoveCredential.Reply> {
        let begun = core.removals.begin(in: request.sharingGroup) { $0.changes(removing: request) }
        return finish(begun).map(RemoveCredential.Reply.init(removed:))
    }

    func importCache(_ request: ImportCache, from connection: ConnectionID) -> Answer<ImportCache.Reply> {
        transfers.receive(request, from: connection)
    }

    func exportCache(_ request: ExportCache, from connection: ConnectionID) -> Answer<ExportCache.Reply> {
        transfers.send(request, to: connection)
    }

    /// Answers a request for events: at once if there are any, otherwise with the next one.
    func watchEvents(_ request: WatchEvents, from connection: ConnectionID) -> Answer<WatchEvents.Reply> {
        do throws(TokenError) {
            return try core.events.next(request, from: connection, through: nil)
        } catch {
            return .now(.failure(error))
        }
    }

    /// Whether a request continues what was allowed on its connection. Imports and exports are checked by `CacheTransfers`.
    func isContinuation(_ request: some AgentRequest, on connection: ConnectionID) -> Bool {
        (request as? WatchEvents).map { core.events.isContinued(by: $0, on: connection) } ?? true
    }

    /// Answers the requests of a connection that wait for events, since it is about to be closed.
    func finishWatching(_ connection: ConnectionID) { core.events.finish(connection) }

    func keyStatus() -> Answer<KeyStatus> { .now(.success(lifecycle.keyStatus)) }

    func setKey(_ request: SetKey) -> Answer<KeyStatus> {
        later { owner async throws(TokenError) in try await owner.lifecycle.setKey(request) }
    }

    func unlock(_ request: Unlock) -> Answer<KeyStatus> {
        later { owner async throws(TokenError) in try await owner.lifecycle.unlock(request) }
    }

    /// Ends every sign-in and transfer, and forgets the store's key and every token.
    func lock() -> Answer<KeyStatus> {
        later { owner async throws(TokenError) in
            try await owner.lifecycle.lock {
                owner.signIns.cancelAll(.storeWasLocked)
                owner.transfers.cancelAll(.storeWasLocked)
                await owner.transfers.waitUntilIdle()
            }
        }
    }

    func publishSocket(_ request: PublishSocket) -> Answer<PublishedSocket> {
        later { owner async throws(TokenError) in try await owner.sockets.publish(request) }
    }

    func listSockets() -> Answer<ListSockets.Reply> {
        sockets.closeOverdue()
        return .now(.success(ListSockets.Reply(sockets: sockets.list)))
    }

    func unpublishSocket(_ request: UnpublishSocket) -> Answer<UnpublishSocket.Reply> {
        later { owner async throws(TokenError) in
            UnpublishSocket.Reply(label: await owner.sockets.unpublish(request.name))
        }
    }

    func status(_ request: GetStatus) -> Answer<AgentStatus> {
        sockets.closeOverdue()
        guard diagnosis.hasQuarantine else { return .now(.success(status(request, []))) }
        return later { owner async throws(TokenError) in
            let quarantined = await owner.diagnosis.quarantined()
            return owner.status(request, quarantined)
        }
    }

    private func status(_ request: GetStatus, _ quarantined: [String]) -> AgentStatus {
        var status = diagnosis.status(quarantined)
        if request.includesMetrics { status.metrics = Array(metrics.prefix(WireLimits.listItems)) }
        return status
    }

    func diagnose(_ request: Diagnose, from connection: ConnectionID) -> Answer<Diagnose.Reply> {
        later { owner async throws(TokenError) in
            Diagnose.Reply(checks: try await owner.diagnosis.checks(request, for: connection.peer))
        }
    }

    func reloadConfiguration() -> Answer<ReloadConfiguration.Reply> {
        later { owner async throws(TokenError) in try await owner.reload() }
    }

    /// Begins to read the configuration again, for a signal. The audit log has a line when that has changed something, or has failed.
    func beginReload() {
        core.tasks.start { () async throws(TokenError) in
            do throws(TokenError) {
                let report = try await self.reload()
                self.audit?.reloaded(.success(report), of: self.policy.userID)
            } catch {
                self.audit?.reloaded(.failure(error), of: self.policy.userID)
            }
        }
    }

    /// Reads the configuration again. Its rules decide about all later requests, on open connections too.
    func reload() async throws(TokenError) -> ReloadConfiguration.Reply {
        try await configuration.run { new in
            // Other rules may require a confirmation where the earlier ones did not.
            if new.rules != policy.rules { core.events.forgetAdmissions() }
            policy.rules = new.rules
            audit?.setHasNames(new.auditsNames)
            endpoint.allowsLoopbackHTTP = new.allowsLoopbackHTTP
            // Apps ask again for what they have kept, and the new rules decide.
            core.answers.end(.all)
            // So do those who wait for events.
            core.events.finishAll()
        }
    }

    func hello(_ request: Hello) -> Answer<Hello.Reply> {
        guard request.protocolVersion >= 1 else {
            return .now(.failure(TokenError(.unsupportedProtocolVersion, "this agent speaks version 1 and later")))
        }
        core.logger.debug("hello", metadata: ["app": "\(RequestLog.safe(request.appName))"])
        return .now(.success(Self.helloReply))
    }

    /// The descriptor of the page that comes with the reply; nil for none.
    func pageDescriptor(for request: Hello, from peer: ConnectedPeer) -> Int32? {
        peer.sharesGenerations && request.acceptsPage ? core.answers.page?.descriptor : nil
    }

    /// Makes the page that apps are told of changes through.
    func sharePage() { core.answers.share(GenerationPage()) }

    /// Ends what apps keep, since the agent stops.
    func retirePage() { core.answers.page?.retire() }

    /// The load of the store that a request has to wait for; nil if it need not wait. If the load fails, so does the request.
    func pendingLoad(
        _ wait: RequestHandler.Wait, for request: some AgentRequest, from peer: ConnectedPeer
    ) -> EventLoopFuture<Result<Void, TokenError>>? {
        switch wait {
        case .never: nil
        // What a published socket serves is decided with the whole cache.
        case .untilLoaded: peer.published == nil ? lifecycle.untilLoaded(for: request) : lifecycle.untilLoaded()
        case .untilLoadedOrTimeout: lifecycle.untilLoadedOrTimeout()?.map { .success(()) }
        }
    }

    /// Ends what a connection that has ended has begun, except for imports that have arrived completely, and sign-ins for which another
    /// connection waits.
    func connectionEnded(_ connection: ConnectionID) {
        core.events.ended(connection)
        transfers.discardAll(of: connection)
        signIns.connectionClosed(connection)
        redeemer.redemptions.abandon(for: connection)
    }

    /// Completes when the responses of token endpoints that are on their way have been saved, which may have replaced refresh tokens. The
    /// apps that wait for them may have gone.
    func untilResponsesAreSaved() -> EventLoopFuture<Void> {
        let lifecycle = lifecycle
        return core.tasks.start { () async throws(TokenError) in await lifecycle.waitForResponses() }.map { _ in }
    }

    /// Begins no further redemption.
    func refuseRedemptions() { core.commits.beginClosing(.agentIsStopping) }

    /// Cancels every sign-in and transfer, and tries again to write unsaved changes. Completes when no task is running.
    func shutDown() -> EventLoopFuture<Void> {
        signIns.cancelAll(.agentIsStopping)
        transfers.cancelAll(.agentIsStopping)
        core.commits.stopRetrying()
        let commits = core.commits
        core.tasks.start { () async throws(TokenError) in await commits.writeUnsavedChanges() }
        return core.tasks.whenIdle()
    }

    /// Completes a removal; nil if there is nothing to remove. A redemption that completes later finds its refresh token removed, and saves
    /// nothing.
    private func finish(_ begun: Removals.Begun?) -> Answer<Bool> {
        guard let begun else { return .now(.success(false)) }
        return later { owner async throws(TokenError) in try await owner.core.removals.finish(begun) }
    }

    /// Begins a sign-in in a place that is reserved for it before anything else is done.
    private func beginSignIn<Reply: Sendable>(
        _ parameters: TokenParameters, from connection: ConnectionID,
        _ begin: @escaping @Sendable (isolated CacheOwner, _ id: String) async throws(TokenError) -> Reply
    ) -> Answer<Reply> {
        if let refusal = core.authorities.refusal(of: parameters) { return .now(.failure(refusal)) }
        let id: String
        do throws(TokenError) {
            id = try signIns.reserve(for: connection)
        } catch {
            return .now(.failure(error))
        }
        return later { owner async throws(TokenError) in
            defer { owner.signIns.cancelReservation(id) }
            return try await begin(owner, id)
        }
    }

    func later<Value: Sendable>(
        _ work: @escaping @Sendable (isolated CacheOwner) async throws(TokenError) -> Value
    ) -> Answer<Value> {
        .later(core.tasks.start { () async throws(TokenError) in try await work(self) })
    }

    private static let helloReply = Hello.Reply(
        protocolVersion: WireLimits.protocolVersion, agentVersion: ProductVersion.text,
        requests: RequestHandlers.numbers)
}
