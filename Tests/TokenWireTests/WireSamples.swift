internal import TokenModel
internal import TokenWire

/// A message of each type with every field set, so that a lost or renumbered field is detected.
enum WireSamples {
    static let requests: [RequestSample] = [
        RequestSample("hello", Hello(protocolVersion: 1, appName: "notes 2.1")),
        RequestSample("hello that accepts a page", helloWithPage),
        RequestSample("acquire_token_silent", silent),
        RequestSample("acquire_token_silent with a single ID token", silentWithSingleIDToken),
        RequestSample("acquire_token_silent that wants its freshness", silentWithFreshness),
        RequestSample("begin_interactive", interactive),
        RequestSample(
            "complete_interactive",
            CompleteInteractive(sessionID: "s-1", responseURL: "http://localhost:8400/?code=abc&state=xyz")),
        RequestSample("begin_device_code", BeginDeviceCode(parameters: parameters, account: account.reference)),
        RequestSample("complete_device_code", CompleteDeviceCode(sessionID: "s-2")),
        RequestSample("cancel_interaction", CancelInteraction(sessionID: "s-3")),
        RequestSample(
            "list_accounts",
            ListAccounts(
                clientID: clientID, sharingGroup: group, homeAccountID: homeAccountID, username: "ada@example.com",
                localAccountID: "oid-1", onlySignedIn: false, after: "page-2")),
        RequestSample(
            "remove_account",
            RemoveAccount(clientID: clientID, sharingGroup: group, account: account.reference, extent: .account)),
        RequestSample(
            "remove_account in an environment",
            RemoveAccount(
                clientID: clientID, sharingGroup: group, account: account.reference, extent: .account,
                environment: account.environment)),
        RequestSample(
            "remove_account that wants pages",
            RemoveAccount(
                clientID: clientID, sharingGroup: group, account: account.reference, extent: .account,
                environment: account.environment, wantsSignOutPages: true)),
        RequestSample("get_status", GetStatus()),
        RequestSample("get_status with metrics", GetStatus(includesMetrics: true)),
        RequestSample("diagnose", Diagnose(authority: authority)),
        RequestSample("list_credentials", ListCredentials(sharingGroup: group, version: .v1, after: "page-4")),
        RequestSample("list_credentials without secrets", ListCredentials(sharingGroup: group, withoutSecrets: true)),
        RequestSample("remove_credential", RemoveCredential(sharingGroup: group, id: credential.id)),
        RequestSample(
            "redeem_grant",
            RedeemGrant(
                parameters: parameters, kind: .saml2, grant: Secret("<Assertion/>"), account: account.reference)),
        RequestSample("get_current_account", GetCurrentAccount(clientID: clientID, sharingGroup: group)),
        RequestSample(
            "import_cache",
            ImportCache(
                format: .adalJSON, sharingGroup: group, isDryRun: true, importID: "i-1",
                data: Secret(bytes: [0x5B, 0x7B, 0, 0xFF]), isLast: false)),
        RequestSample(
            "import_cache that keeps sign-outs",
            ImportCache(
                format: .adalArchive, sharingGroup: group, data: Secret(bytes: [0x62]), isLast: true,
                keepsSignOuts: true)),
        RequestSample(
            "export_cache",
            ExportCache(format: .adalArchive, sharingGroup: group, includesSecrets: true, exportID: "x-1")),
        RequestSample("get_key", GetKey()),
        RequestSample("set_key", SetKey(source: .passphrase, passphrase: Secret("correct horse"))),
        RequestSample(
            "set_key of a sealed store", SetKey(source: .file, currentPassphrase: Secret("correct horse"))),
        RequestSample("unlock", Unlock(passphrase: Secret("correct horse"))),
        RequestSample("lock", Lock()),
        RequestSample("watch_events", WatchEvents(clientID: clientID, sharingGroup: group)),
        RequestSample(
            "watch_events after a position",
            WatchEvents(clientID: nil, position: EventPosition(feed: 7_700_000_000, generation: 41))),
        RequestSample(
            "publish_socket",
            PublishSocket(
                path: "/srv/build/sso.sock", userIDs: [1001, 1002], clientIDs: [clientID], sharingGroup: group,
                scopes: ScopeSet(["User.Read"]), authorities: [authority], account: "ada@example.com", lifetime: 600,
                label: "build")),
        RequestSample("list_sockets", ListSockets()),
        RequestSample("unpublish_socket", UnpublishSocket(name: "build")),
        RequestSample("reload_configuration", ReloadConfiguration()),
    ]

    static let replies: [ReplySample] = [
        ReplySample("failure", AnyReply(failure: failure, id: 1)),
        ReplySample(
            "hello",
            AnyReply(
                Hello.Reply(protocolVersion: 1, agentVersion: "0.1.0", requests: [10, 11, 20]), to: Hello.self, id: 1)),
        ReplySample("acquire_token_silent", AnyReply(result, to: AcquireTokenSilent.self, id: 1)),
        ReplySample(
            "acquire_token_silent with its freshness",
            AnyReply(resultWithFreshness, to: AcquireTokenSilent.self, id: 1)),
        ReplySample(
            "acquire_token_silent that has changed the cache",
            AnyReply(resultWithChange, to: AcquireTokenSilent.self, id: 1)),
        ReplySample(
            "begin_interactive",
            AnyReply(
                BeginInteractive.Reply(
                    sessionID: "s-1", authorizationURL: "https://login.example.com/contoso/oauth2/v2.0/authorize?x=1",
                    redirectURI: "http://localhost:8400/", expiresIn: 300), to: BeginInteractive.self, id: 1)),
        ReplySample(
            "begin_interactive with a launch URL",
            AnyReply(
                BeginInteractive.Reply(
                    sessionID: "s-1", authorizationURL: "https://login.example.com/contoso/oauth2/v2.0/authorize?x=1",
                    redirectURI: "http://localhost:8400/", expiresIn: 300, launchURL: "http://127.0.0.1:8400/launch"),
                to: BeginInteractive.self, id: 1)),
        ReplySample("complete_interactive", AnyReply(result, to: CompleteInteractive.self, id: 1)),
        ReplySample(
            "begin_device_code",
            AnyReply(
                BeginDeviceCode.Reply(
                    sessionID: "s-2", userCode: "ABCD-EFGH", verificationURL: "https://example.com/device",
                    message: "Type ABCD-EFGH at https://example.com/device.", expiresIn: 900), to: BeginDeviceCode.self,
                id: 1)),
        ReplySample("complete_device_code", AnyReply(result, to: CompleteDeviceCode.self, id: 1)),
        ReplySample("cancel_interaction", AnyReply(CancelInteraction.Reply(), to: CancelInteraction.self, id: 1)),
        ReplySample(
            "list_accounts",
            AnyReply(ListAccounts.Reply(accounts: [account], next: "page-3"), to: ListAccounts.self, id: 1)),
        ReplySample("remove_account", AnyReply(RemoveAccount.Reply(removed: true), to: RemoveAccount.self, id: 1)),
        ReplySample(
            "remove_account with a page",
            AnyReply(
                RemoveAccount.Reply(
                    removed: true, signOutPages: ["https://login.example.com/logout?client_id=notes"]),
                to: RemoveAccount.self, id: 1)),
        ReplySample(
            "get_status",
            AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1,
                    socketPath: "/run/user/1000/sso-agent/agent.sock",
                    stateDirectory: "/home/ada/.local/state/sso-agent",
                    uptimeSeconds: 3600, accounts: 2), to: GetStatus.self, id: 1)),
        ReplySample(
            "get_status with a published socket",
            AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1, socketPath: "/run/agent.sock",
                    stateDirectory: "/state", uptimeSeconds: 1, accounts: 2,
                    publishedSockets: ["/srv/build/sso.sock"]), to: GetStatus.self, id: 1)),
        ReplySample(
            "get_status with metrics",
            AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1, socketPath: "/run/agent.sock",
                    stateDirectory: "/state", uptimeSeconds: 1, accounts: 2,
                    metrics: [
                        AgentMetric(
                            "sso_agent_requests_total", .counter,
                            labels: ["request": "acquire_token_silent", "outcome": "hit"], value: 1200),
                        AgentMetric(
                            "sso_agent_store_commit_seconds", .histogram, value: 3,
                            durations: AgentMetric.Durations(sum: 4500, bounds: [1000, 2500], counts: [2, 1])),
                    ]), to: GetStatus.self, id: 1)),
        ReplySample("publish_socket", AnyReply(published, to: PublishSocket.self, id: 1)),
        ReplySample("list_sockets", AnyReply(ListSockets.Reply(sockets: [published]), to: ListSockets.self, id: 1)),
        ReplySample(
            "reload_configuration",
            AnyReply(
                ReloadConfiguration.Reply(
                    files: ["/etc/sso-agent/config.toml"], applied: ["rules: 2 instead of 1"],
                    awaitingRestart: ["network.proxy"]), to: ReloadConfiguration.self, id: 1)),
        ReplySample(
            "unpublish_socket", AnyReply(UnpublishSocket.Reply(label: "build"), to: UnpublishSocket.self, id: 1)),
        ReplySample(
            "diagnose",
            AnyReply(
                Diagnose.Reply(checks: [
                    HealthCheck(name: "store", ok: true, detail: "2 accounts"),
                    HealthCheck(name: "network", ok: false, detail: "no route", hint: "check the proxy"),
                ]), to: Diagnose.self, id: 1)),
        ReplySample(
            "list_credentials",
            AnyReply(ListCredentials.Reply(credentials: [credential], next: "page-5"), to: ListCredentials.self, id: 1)),
        ReplySample(
            "remove_credential", AnyReply(RemoveCredential.Reply(removed: true), to: RemoveCredential.self, id: 1)),
        ReplySample("redeem_grant", AnyReply(result, to: RedeemGrant.self, id: 1)),
        ReplySample(
            "get_current_account",
            AnyReply(GetCurrentAccount.Reply(account: account, previous: account), to: GetCurrentAccount.self, id: 1)),
        ReplySample(
            "import_cache",
            AnyReply(
                ImportCache.Reply(
                    importID: "i-1",
                    report: ImportCache.Report(
                        accounts: 2, refreshTokens: 3, accessTokens: 4, idTokens: 5,
                        skipped: [
                            ImportCache.Skipped(entry: "access token, ada@example.com", reason: "it has expired")
                        ], skippedCount: 300)), to: ImportCache.self, id: 1)),
        ReplySample(
            "export_cache",
            AnyReply(
                ExportCache.Reply(
                    data: Secret(bytes: Array("bplist00".utf8) + [0, 0xFF]), remaining: 70_000, next: "x-1"),
                to: ExportCache.self, id: 1)),
        ReplySample(
            "get_status of a damaged store",
            AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1,
                    socketPath: "/run/user/1000/sso-agent/agent.sock",
                    stateDirectory: "/home/ada/.local/state/sso-agent", uptimeSeconds: 3600, accounts: 2,
                    quarantined: ["cache.sqlite.quarantine-20300317T174640Z"], storeProblem: "the disk is full"),
                to: GetStatus.self, id: 1)),
        ReplySample(
            "get_status of a locked store",
            AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1, socketPath: "/run/agent.sock",
                    stateDirectory: "/state", uptimeSeconds: 1, accounts: 0, storeProblem: "the store was locked",
                    nextCommand: "ssoctl unlock"),
                to: GetStatus.self, id: 1)),
        ReplySample("get_key", AnyReply(keyStatus, to: GetKey.self, id: 1)),
        ReplySample("get_key of a locked store", AnyReply(lockedKeyStatus, to: GetKey.self, id: 1)),
        ReplySample("set_key", AnyReply(keyStatus, to: SetKey.self, id: 1)),
        ReplySample("unlock", AnyReply(keyStatus, to: Unlock.self, id: 1)),
        ReplySample("lock", AnyReply(keyStatus, to: Lock.self, id: 1)),
        ReplySample("watch_events", AnyReply(events, to: WatchEvents.self, id: 1)),
        ReplySample("failure of a throttled request", AnyReply(failure: throttled, id: 1)),
        ReplySample("failure with a next command", AnyReply(failure: locked, id: 1)),
        ReplySample("failure that has changed the cache", AnyReply(failure: failureWithChange, id: 1)),
    ]

    static let events: WatchEvents.Reply = {
        let position = EventPosition(feed: 7_700_000_000, generation: 43)
        var account = WireSamples.account
        (account.tenantProfiles, account.homeIDToken) = ([], nil)
        return WatchEvents.Reply(
            position: position,
            events: [
                AgentEvent(
                    .interactionDue, position: EventPosition(feed: 7_700_000_000, generation: 42), time: 1_900_000_000,
                    account: account, clientID: clientID),
                AgentEvent(.storeChanged, position: position, time: 1_900_000_001, storeState: .locked),
            ])
    }()

    static let throttled: TokenError = {
        var details = TokenError.Details()
        details.httpStatus = 429
        details.isThrottled = true
        details.throttledUntil = 1_900_000_060
        details.reason = .throttled
        return TokenError(.unhandledHTTPResponse, "wait", details: details)
    }()

    static let locked = TokenError(.storeUnavailable, "locked", .run("ssoctl unlock"), reason: .locked)

    static let keyStatus = KeyStatus(
        source: .passphrase, place: "nowhere", isOpen: false, problem: "the store is locked")
    static let lockedKeyStatus = KeyStatus(
        source: .passphrase, place: "nowhere", isOpen: false, problem: "locked; run: ssoctl unlock",
        nextCommand: "ssoctl unlock")
    static let correlationID = CorrelationID("00112233-4455-6677-8899-aabbccddeeff") ?? CorrelationID()
    static let clientID: ClientID = {
        guard let id = ClientID("11111111-2222-3333-4444-555555555555") else { preconditionFailure("not blank") }
        return id
    }()
    static let group = SharingGroup("com.example.suite") ?? .standard
    static let homeAccountID = HomeAccountID("oid-1.tid-1")
    static let authority = Authority.common.withEnvironment("login.example.com").withRealm("contoso")

    static let parameters = TokenParameters(
        clientID: clientID, sharingGroup: group, authority: authority, version: .v1,
        scopes: ScopeSet(["https://graph.example.com/.default"]), redirectURI: "http://localhost",
        claims: #"{"access_token":{"nbf":null}}"#, capabilities: ["cp1", "cp2"],
        extraParameters: ["dc": "ests", "slice": "testé"], validatesAuthority: false, correlationID: correlationID)

    /// As versions before `accepts_single_id_token` send it.
    static let silent: AcquireTokenSilent = {
        var request = silentWithSingleIDToken
        request.acceptsSingleIDToken = false
        return request
    }()

    static let silentWithSingleIDToken = AcquireTokenSilent(
        parameters: parameters, account: account.reference, forceRefresh: true, expirationBuffer: 60,
        allowsExtendedLifetime: true)

    static let helloWithPage: Hello = {
        var hello = Hello(appName: "notes 2.1")
        hello.acceptsPage = true
        return hello
    }()

    static let silentWithFreshness: AcquireTokenSilent = {
        var request = silent
        request.wantsFreshness = true
        return request
    }()

    static let resultWithFreshness: TokenResult = {
        var result = WireSamples.result
        result.freshness = 1_899_996_400...1_899_999_700
        return result
    }()

    static let resultWithChange: TokenResult = {
        var result = WireSamples.result
        result.hasChangedCache = true
        return result
    }()

    static let failureWithChange: TokenError = {
        var details = TokenError.Details()
        details.hasChangedCache = true
        return TokenError(.interactionRequired, "sign in", details: details)
    }()

    /// A result as agents make it: without the account's profiles, and with the same ID token three times.
    static let resultOfAHit: TokenResult = {
        var result = WireSamples.resultWithFreshness
        result.account.tenantProfiles = []
        result.allowsSingleIDToken = true
        return result
    }()

    static let interactive = BeginInteractive(
        parameters: parameters, account: account.reference, prompt: "select_account", loginHint: "ada",
        domainHint: "example.com", extraScopes: ScopeSet(["Mail.Read", "Mail.Send"]))

    static let profile = TenantProfile(
        realm: "contoso", localAccountID: "oid-1", username: "ada@example.com", environment: "login.example.com",
        isHome: true, idToken: "header.payload.signature")

    static let account = Account(
        homeAccountID: homeAccountID, username: "ada@example.com", environment: "login.example.com", source: .adal,
        tenantProfiles: [profile], homeIDToken: "header.payload.signature")

    static let credential = Credential(
        id: "oid-1.tid-1-login.example.com-accesstoken", kind: .accessToken, clientID: clientID,
        familyID: FamilyID("1"), authority: authority.url, version: .v1,
        scopes: ScopeSet(["https://graph.example.com/.default"]), accessToken: Secret("access-token"),
        tokenType: "Bearer", expiresOn: 1_900_000_000, extendedExpiresOn: 1_900_003_600,
        idToken: "header.payload.signature", account: account.reference)

    static let result = TokenResult(
        accessToken: Secret("access-token"), tokenType: "Bearer", expiresOn: 1_900_000_000,
        extendedExpiresOn: 1_900_003_600, scopes: ["User.Read", "Mail.Read"], idToken: "header.payload.signature",
        account: account, tenantProfile: profile, authority: authority.url, correlationID: correlationID,
        isFromCache: true, isExtendedLifetime: true, familyID: FamilyID("1"), hasMultiResourceRefreshToken: true)

    static let published = PublishedSocket(
        path: "/srv/build/sso.sock", label: "build", userIDs: [1001, 1002], clientIDs: [clientID], sharingGroup: group,
        scopes: ScopeSet(["User.Read"]), authorities: [authority], account: account.reference, expiresOn: 1_900_000_000,
        connections: 3)

    static let failure: TokenError = {
        var details = TokenError.Details()
        details.oauthError = "invalid_grant"
        details.subError = "basic_action"
        details.errorDescription = "AADSTS50079: more is needed"
        details.stsErrorCodes = [50079, -1]
        details.httpStatus = 400
        details.httpHeaders = ["Retry-After": "5", "Date": "today"]
        details.networkErrorCode = -1009
        details.correlationID = correlationID
        details.grantedScopes = ["User.Read"]
        details.declinedScopes = ["Mail.Read"]
        details.homeAccountID = homeAccountID
        details.username = "ada@example.com"
        details.isThrottled = true
        details.partialResult = result
        return TokenError(.interactionRequired, "sign in again", details: details)
    }()
}
