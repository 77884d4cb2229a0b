internal import AccessPolicy
internal import AgentTestSupport
internal import AuditLog
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import TokenAgent

/// What the audit log has of requests that fail, and of peers that repeat them.
@Suite(.bounded) struct AuditTrailTests {
    private let folder: TemporaryFolder
    private let clock = TestClock()
    private let timers = TestTimers()
    private let writer: AuditWriter
    private let trail: AuditTrail

    init() throws {
        folder = try TemporaryFolder()
        let (clock, timers) = (clock, timers.timers)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        // Five small files, so that few lines push out the oldest ones.
        writer = AuditWriter(.file(path: folder.file("audit.log"), limit: 32 << 10))
        trail = AuditTrail(writer, hasNames: false, now: { clock.now }) {
            _ = timers.schedule(loop, .seconds($0), $1)
        }
    }

    private func peer(_ processID: Int32 = 7, sandbox: PeerIdentity.Sandbox? = nil) -> ConnectedPeer {
        let log = LogCollector.Messages().logger()
        return ConnectedPeer(
            identity: PeerIdentity(userID: 1000, processID: processID, sandbox: sandbox),
            confirmer: Confirmer(askpass: nil, helper: nil), denials: DenialLog(logger: log, now: { 0 }),
            log: RequestLog(logger: log, processID: processID), audit: trail, published: nil)
    }

    private func reply<Request: WireRequest>(
        to request: Request, _ outcome: Result<Request.Reply, TokenError>, from peer: ConnectedPeer
    ) {
        let asked = PolicyRequest(name: RequestFrame.name(of: Request.number), subject: request.subject)
        trail.replied(to: request, asked, outcome, from: peer)
    }

    /// Without a limit, an app that may sign out of its own accounts could push out the lines of others with them.
    @Test func hasNoLineForASignOutThatRemovesNothing() async throws {
        let request = RemoveAccount(clientID: .sample, account: .sample("alice"))
        for isRemoved in [false, true, false] {
            reply(to: request, .success(RemoveAccount.Reply(removed: isRemoved)), from: peer())
        }
        #expect(try await lines("sign_out").count == 1)
        reply(to: request, .failure(TokenError(.storeUnavailable, "the disk is full")), from: peer())
        #expect(try await lines("sign_out").count == 2)
    }

    /// An app that may unlock the store could push out lines by unlocking an open one again and again.
    @Test func hasNoLineForALockOrAnUnlockThatChangesNothing() async throws {
        var status = KeyStatus(source: .file, place: "cache.key", isOpen: true)
        for isUnchanged in [false, true, true] {
            status.isUnchanged = isUnchanged
            reply(to: Lock(), .success(status), from: peer())
            reply(to: Unlock(), .success(status), from: peer())
        }
        #expect(try await lines().compactMap { $0["event"] } == ["lock", "unlock"])
    }

    /// Every process of the user could push out lines with requests, or with signals.
    @Test func hasNoLineForAReloadThatChangesNothing() async throws {
        for applied in [[], ["apps"], []] {
            let report = ReloadConfiguration.Reply(
                files: ["file"], applied: applied, awaitingRestart: ["network.proxy"])
            reply(to: ReloadConfiguration(), .success(report), from: peer())
            trail.reloaded(.success(report), of: 1000)
        }
        #expect(try await lines("reload").count == 2)
    }

    @Test func limitsTheLinesOfReloadsThatFail() async throws {
        let error = TokenError(.invalidDeveloperParameter, "a file has a mistake")
        for _ in 0..<100 { trail.reloaded(.failure(error), of: 1000) }
        await trail.stopped()
        #expect(count(try await lines("reload")) == FailureLimit.eventsPerMinute)
        #expect(count(try await lines("omitted")) == 100 - FailureLimit.eventsPerMinute)
    }

    /// A file comes in parts, and is imported with the last one.
    @Test func hasALineForAnImportAndForAPartThatFails() async throws {
        func part(isLast: Bool) -> ImportCache {
            ImportCache(format: .msalJSON, importID: "import", data: Secret(""), isLast: isLast)
        }
        for isLast in [false, false, true] {
            reply(to: part(isLast: isLast), .success(ImportCache.Reply(importID: "import")), from: peer())
        }
        #expect(try await lines("import").map { $0["outcome"] } == ["ok"])
        reply(to: part(isLast: false), .failure(TokenError(.frameTooLarge, "the file is too long")), from: peer())
        #expect(try await lines("import").map { $0["outcome"] } == ["ok", "frameTooLarge"])
    }

    /// The first part of an export has tokens already.
    @Test func hasALineForAnExportAndForAPartThatFails() async throws {
        func part(_ id: String?) -> ExportCache { ExportCache(format: .msalJSON, includesSecrets: true, exportID: id) }
        for id in [nil, "next"] { reply(to: part(id), .success(ExportCache.Reply(data: Secret(""))), from: peer()) }
        reply(to: part("next"), .failure(TokenError(.sessionCanceled, "it was not continued in time")), from: peer())
        #expect(try await lines("export").map { $0["outcome"] } == ["ok", "sessionCanceled"])
    }

    /// A list without secrets hands out nothing.
    @Test(arguments: [false, true]) func hasALineForAListOfCredentialsWithTokens(withoutSecrets: Bool) async throws {
        let credentials = [Credential.Kind.accessToken, .accessToken, .refreshToken].map { kind in
            Credential(
                id: "id", kind: kind, clientID: .sample, authority: "https://login.example/common",
                account: Self.alice.reference)
        }
        let request = ListCredentials(withoutSecrets: withoutSecrets)
        reply(to: request, .success(ListCredentials.Reply(credentials: credentials)), from: peer())
        reply(to: Lock(), .success(KeyStatus(source: .file, place: "cache.key", isOpen: false)), from: peer())
        let lines = try await lines()
        #expect(lines.map { $0["event"] } == (withoutSecrets ? ["lock"] : ["token", "lock"]))
        #expect(lines.compactMap { $0["count"] } == (withoutSecrets ? [] : ["2"]))
    }

    /// A process could close its connection, so that no reply is sent.
    @Test func recordsWhatChangesSomethingWithoutWaitingForTheReply() async throws {
        let status = KeyStatus(source: .file, place: "cache.key", isOpen: true)
        #expect(end(SetKey(source: .file), .success(status)))
        #expect(end(Unlock(), .success(status)))
        #expect(end(Lock(), .success(status)))
        let removal = RemoveAccount(clientID: .sample, account: .sample("alice"))
        #expect(end(removal, .success(RemoveAccount.Reply(removed: true))))
        let file = ImportCache(format: .msalJSON, data: Secret(""), isLast: true)
        #expect(end(file, .success(ImportCache.Reply(importID: "import"))))
        let publication = PublishSocket(path: "/srv/build.sock", clientIDs: [.sample])
        #expect(end(publication, .success(Self.socket)))
        #expect(end(UnpublishSocket(name: "build"), .success(UnpublishSocket.Reply(label: "build"))))
        let configuration = ReloadConfiguration.Reply(files: [], applied: ["apps"], awaitingRestart: [])
        #expect(end(ReloadConfiguration(), .success(configuration)))
        #expect(!end(ListAccounts(clientID: nil), .success(ListAccounts.Reply(accounts: []))))
        let events = try await lines().compactMap { $0["event"] }
        #expect(events == ["key", "unlock", "lock", "sign_out", "import", "publish", "unpublish", "reload"])
    }

    private func end<Request: WireRequest>(
        _ request: Request, _ outcome: Result<Request.Reply, TokenError>
    ) -> Bool {
        guard AuditTrail.isOfChange(request, outcome) else { return false }
        reply(to: request, outcome, from: peer())
        return true
    }

    /// The log has the names of users only if the configuration says so.
    @Test(arguments: [false, true]) func namesTheUserOfAPublishedSocketIfItMay(hasNames: Bool) async throws {
        trail.setHasNames(hasNames)
        let request = PublishSocket(path: "/srv/build.sock", clientIDs: [.sample], account: "alice@contoso.com")
        reply(to: request, .success(Self.socket), from: peer())
        let line = try #require(try await lines("publish").first)
        #expect(line["username"] == (hasNames ? "alice@contoso.com" : nil))
        #expect(line["socket"] == "/srv/build.sock" && line["client_id"] == "app" && line["account"] != nil)
    }

    @Test(arguments: [false, true]) func namesTheUserOfATokenIfItMay(hasNames: Bool) async throws {
        trail.setHasNames(hasNames)
        let token = TokenResult(
            accessToken: Secret("at"), tokenType: "Bearer", expiresOn: 0, scopes: ["User.Read"], idToken: nil,
            account: Self.alice, tenantProfile: nil, authority: "https://login.example/common",
            correlationID: CorrelationID(), isFromCache: false)
        reply(
            to: AcquireTokenSilent(parameters: .sample(), account: AccountReference()), .success(token), from: peer())
        try await expectAlice(in: "token", isNamed: hasNames)
    }

    @Test(arguments: [false, true]) func namesTheUserOfAnIDTokenIfItMay(hasNames: Bool) async throws {
        trail.setHasNames(hasNames)
        let list = ListAccounts.Reply(accounts: [Self.alice])
        reply(to: ListAccounts(clientID: .sample), .success(list), from: peer())
        try await expectAlice(in: "id_token", isNamed: hasNames)
    }

    @Test(arguments: [false, true]) func namesTheUserOfASignOutIfItMay(hasNames: Bool) async throws {
        trail.setHasNames(hasNames)
        let request = RemoveAccount(clientID: .sample, account: Self.alice.reference)
        reply(to: request, .success(RemoveAccount.Reply(removed: true)), from: peer())
        try await expectAlice(in: "sign_out", isNamed: hasNames)
    }

    private static let alice = Account(
        homeAccountID: .sample("alice"), username: "alice@contoso.com", environment: "login.example", source: .msal,
        homeIDToken: "e30.e30.")

    private func expectAlice(in event: String, isNamed: Bool) async throws {
        let line = try #require(try await lines(event).first)
        #expect(line["account"] != nil, "its hash")
        #expect(line["username"] == (isNamed ? "alice@contoso.com" : nil))
    }

    /// Of which socket they were would not be known otherwise.
    @Test func writesHowManyFailuresOfAPublishedSocketAreOmittedWhenItEnds() async throws {
        let rules = SocketRules(
            userIDs: [1001], clientIDs: [.sample], sharingGroup: .standard, scopes: ScopeSet([]), authorities: [],
            account: nil)
        let publication = Publication(id: 1, rules: rules, account: nil, summary: Self.socket)
        let request = PolicyRequest(name: "export_cache", subject: RequestSubject(isLimitedToApp: false))
        for process in Int32(0)..<100 {
            let peer = PeerIdentity(userID: 1001, processID: process)
            trail.refused(request, .requestDenied, from: peer, by: publication)
        }
        trail.ended(publication)
        let omitted = try await lines("omitted")
        #expect(omitted.count == 1 && count(omitted) == 100 - FailureLimit.eventsPerMinute)
        #expect(omitted.first?["socket"] == "build" && omitted.first?["pid"] == nil)
    }

    private static let socket = PublishedSocket(
        path: "/srv/build.sock", label: "build", userIDs: [1001], clientIDs: [.sample], sharingGroup: .standard,
        scopes: ScopeSet([]), authorities: [], account: AccountReference(username: "alice@contoso.com"),
        expiresOn: 3600, connections: 0)

    /// Records a silent request of an app that the policy refuses.
    private func refuse(_ clientID: String, from peer: ConnectedPeer) throws {
        var parameters = TokenParameters.sample()
        parameters.clientID = try #require(ClientID(clientID))
        let request = AcquireTokenSilent(parameters: parameters, account: AccountReference())
        reply(to: request, .failure(TokenError(.requestDenied, "no rule")), from: peer)
    }

    /// Records that a token of an app was handed out.
    private func handOut(_ clientID: String, to peer: ConnectedPeer) {
        trail.record(AuditEvent(.token, time: 0, clientID: clientID), from: peer)
    }

    /// The lines of the log, which has no finding.
    private func lines() async throws -> [AuditLine] {
        await writer.flush()
        return try AuditReader.lines(of: folder.file("audit.log"))
    }

    private func lines(_ event: String) async throws -> [AuditLine] {
        try await lines().filter { $0["event"] == event }
    }

    /// The number of events that lines stand for.
    private func count(_ lines: [AuditLine]) -> Int { lines.reduce(0) { $0 + (Int($1["count"] ?? "1") ?? 0) } }

    /// Sandboxes in which all processes share the limit.
    private static let sandboxes = [PeerIdentity.Sandbox(app: "flatpak:org.contoso.Notes"), .init(app: nil)]

    /// 300,000 bytes of lines would not fit into the files.
    @Test(arguments: sandboxes)
    func keepsEarlierLinesWhenASandboxedAppRepeatsRefusedRequests(sandbox: PeerIdentity.Sandbox) async throws {
        handOut("app-1", to: peer(1, sandbox: sandbox))
        for number in 0..<5000 { try refuse("app-\(number)", from: peer(Int32(number % 500), sandbox: sandbox)) }
        handOut("app-2", to: peer(8))
        #expect(try await lines("token").compactMap { $0["client_id"] } == ["app-1", "app-2"])
        #expect(try await lines("refusal").count == FailureLimit.eventsPerMinute)
        #expect(try await lines("lost").isEmpty)
        // The number of the others is written at the end of the minute, also if the app sends nothing more.
        clock.advance(by: 60)
        try await timers.advance(by: 60)
        let omitted = try await lines("omitted")
        #expect(omitted.count == 1 && count(omitted) == 5000 - FailureLimit.eventsPerMinute)
        #expect(omitted.first?["app"] == sandbox.app && omitted.first?["class"] == "sandboxed")
        #expect(omitted.first?["pid"] == nil)
        #expect(try await lines("token").count == 2)
    }

    /// The policy lets a sandboxed app wait for a sign-in with any session ID.
    @Test func writesNoLineForASignInThatDoesNotExist() async throws {
        let app = peer(sandbox: Self.sandboxes[0])
        handOut("app-1", to: app)
        for number in 0..<5000 {
            let unknown = SignInSessions.unknown.forApps
            reply(to: CompleteInteractive(sessionID: "session-\(number)"), .failure(unknown), from: app)
            reply(to: CompleteDeviceCode(sessionID: "session-\(number)"), .failure(unknown), from: app)
        }
        #expect(try await lines().compactMap { $0["event"] } == ["token"])
        // A sign-in of the app that was cancelled has a line.
        let cancelled = TokenError(.sessionCanceled, "the sign-in was cancelled")
        reply(to: CompleteInteractive(sessionID: "session"), .failure(cancelled), from: app)
        #expect(try await lines("sign_in").first?["outcome"] == "sessionCanceled")
    }

    @Test func limitsEachPeerByItself() async throws {
        for number in 0..<100 { try refuse("app-\(number)", from: peer(1)) }
        for number in 0..<50 { try refuse("app-\(number)", from: peer(2)) }
        let refusals = try await lines("refusal")
        #expect(refusals.count { $0["pid"] == "1" } == FailureLimit.eventsPerMinute)
        #expect(refusals.count { $0["pid"] == "2" } == 50)
        // The number is written before the first failure of the next minute if the timer is late.
        clock.advance(by: 60)
        try refuse("app-1", from: peer(1))
        #expect(try await lines().suffix(2).map { $0["event"] } == ["omitted", "refusal"])
        #expect(count(try await lines("omitted")) == 40)
        // A timer of an earlier minute changes nothing.
        try await timers.advance(by: 60)
        #expect(try await lines("omitted").count == 1)
    }

    /// A process may start others without end; the table of peers has a limited size, and no failure is lost.
    @Test func countsTheFailuresOfManyProcesses() async throws {
        for number in 0..<2000 { try refuse("app-1", from: peer(Int32(number))) }
        await trail.stopped()
        let lines = try await lines()
        #expect(lines.count <= FailureLimit.maximumPeers + FailureLimit.eventsPerMinute + 2)
        #expect(count(lines.filter { $0["event"] != "stop" }) == 2000)
        #expect(lines.last?["event"] == "stop")

        var limit = FailureLimit()
        for number in 0..<2000 {
            _ = limit.decide(on: AuditEvent(.refusal, time: 0), of: .process(Int32(number), startTime: nil))
        }
        #expect(limit.count <= FailureLimit.maximumPeers + 1)
        _ = limit.decide(on: AuditEvent(.refusal, time: 60), of: .process(1, startTime: nil))
        #expect(limit.count <= 2, "peers whose minute is over make room")
    }

    /// Otherwise no failure would have a line until the clock has caught up.
    @Test func beginsANewMinuteWhenTheClockIsSetBack() {
        var limit = FailureLimit()
        for _ in 0..<100 { _ = limit.decide(on: AuditEvent(.refusal, time: 7200), of: .app("app-1")) }
        let later = limit.decide(on: AuditEvent(.refusal, time: 3600), of: .app("app-1"))
        #expect(later.isAdmitted)
        #expect(later.omissions.map(\.count) == [100 - FailureLimit.eventsPerMinute])
    }

    /// As above, for the lines of all peers together.
    @Test func beginsANewMinuteOfAllPeersWhenTheClockIsSetBack() {
        var limit = FailureLimit()
        for number in 0..<50 {
            for _ in 0..<10 { _ = limit.decide(on: AuditEvent(.refusal, time: 7200), of: .app("app-\(number)")) }
        }
        let before = limit.decide(on: AuditEvent(.refusal, time: 7200), of: .app("other-1"))
        let after = limit.decide(on: AuditEvent(.refusal, time: 3600), of: .app("other-2"))
        #expect(!before.isAdmitted && after.isAdmitted)
    }

    /// An app could push out lines by unpublishing a socket that does not exist.
    @Test func hasNoLineForASocketThatWasNotThere() async throws {
        for label in [nil, "build", nil] {
            reply(to: UnpublishSocket(name: "build"), .success(UnpublishSocket.Reply(label: label)), from: peer())
        }
        #expect(try await lines().compactMap { $0["event"] } == ["unpublish"])
    }

    /// A user has any number of processes; the files must not be filled with their failures.
    @Test func limitsTheLinesOfAllProcessesTogether() async throws {
        for process in 0..<60 { for app in 0..<20 { try refuse("app-\(app)", from: peer(Int32(process))) } }
        #expect(try await lines("refusal").count == FailureLimit.eventsOfAll)
        await trail.stopped()
        #expect(count(try await lines("omitted")) == 1200 - FailureLimit.eventsOfAll)
    }

    @Test func countsFailuresOfEveryKind() async throws {
        for number in 0..<50 {
            reply(to: Unlock(passphrase: Secret("wrong")), .failure(TokenError(.storeUnavailable, "")), from: peer())
            try refuse("app-\(number)", from: peer())
        }
        await trail.stopped()
        let lines = try await lines()
        #expect(count(lines.filter { $0["event"] != "omitted" && $0["event"] != "stop" }) == 60)
        #expect(count(lines.filter { $0["event"] == "omitted" }) == 40)
    }

    /// A failed sign-in of another account than the requested one has handed out its token.
    @Test func countsEachTokenThatIsPartOfAnError() async throws {
        let account = Account(
            homeAccountID: nil, username: "alice@contoso.com", environment: "login.example", source: .msal)
        for _ in 0..<100 {
            var details = TokenError.Details()
            details.partialResult = TokenResult(
                accessToken: Secret("at"), tokenType: "Bearer", expiresOn: 0, scopes: ["User.Read"], idToken: nil,
                account: account, tenantProfile: nil, authority: "https://login.example/common",
                correlationID: CorrelationID(), isFromCache: false)
            let error = TokenError(.mismatchedAccount, "another account", details: details)
            reply(to: CompleteInteractive(sessionID: "session"), .failure(error), from: peer())
        }
        #expect(count(try await lines("sign_in")) == 100)
    }
}
