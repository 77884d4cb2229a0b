internal import Testing
internal import TokenModel
internal import TokenWire

/// One message of each kind, every field set, so that a field that is lost or renumbered shows.
enum WireSamples {
    struct Sample<Body: Sendable>: Sendable, CustomTestStringConvertible {
        /// The field's name in the envelope of agent.proto.
        var name: String
        var body: Body
        var testDescription: String { name }
    }

    static let requests: [Sample<Request.Body>] = [
        Sample(name: "hello", body: .hello(Hello(protocolVersion: 1, appName: "notes 2.1"))),
        Sample(name: "acquire_token_silent", body: .acquireTokenSilent(silent)),
        Sample(name: "begin_interactive", body: .beginInteractive(interactive)),
        Sample(
            name: "complete_interactive",
            body: .completeInteractive(
                CompleteInteractive(sessionID: "s-1", responseURL: "http://localhost:8400/?code=abc&state=xyz"))),
        Sample(
            name: "begin_device_code",
            body: .beginDeviceCode(BeginDeviceCode(parameters: parameters, account: account.reference))),
        Sample(name: "complete_device_code", body: .completeDeviceCode(CompleteDeviceCode(sessionID: "s-2"))),
        Sample(name: "cancel_interaction", body: .cancelInteraction(CancelInteraction(sessionID: "s-3"))),
        Sample(
            name: "list_accounts",
            body: .listAccounts(
                ListAccounts(
                    clientID: clientID, sharingGroup: group, homeAccountID: homeAccountID, username: "ada@example.com",
                    localAccountID: "oid-1", onlySignedIn: false, after: "page-2"))),
        Sample(
            name: "remove_account",
            body: .removeAccount(
                RemoveAccount(clientID: clientID, sharingGroup: group, account: account.reference, extent: .account))),
        Sample(name: "get_status", body: .getStatus(GetStatus())),
        Sample(name: "diagnose", body: .diagnose(Diagnose(authority: authority))),
        Sample(
            name: "list_credentials",
            body: .listCredentials(ListCredentials(sharingGroup: group, version: .v1, after: "page-4"))),
        Sample(
            name: "remove_credential", body: .removeCredential(RemoveCredential(sharingGroup: group, id: credential.id))
        ),
        Sample(
            name: "redeem_grant",
            body: .redeemGrant(
                RedeemGrant(
                    parameters: parameters, kind: .saml2, grant: Secret("<Assertion/>"), account: account.reference))),
        Sample(
            name: "get_current_account",
            body: .getCurrentAccount(GetCurrentAccount(clientID: clientID, sharingGroup: group))),
        Sample(
            name: "import_cache",
            body: .importCache(
                ImportCache(
                    format: .adalJSON, sharingGroup: group, isDryRun: true, importID: "i-1",
                    data: Secret(bytes: [0x5B, 0x7B, 0, 0xFF]), isLast: false))),
        Sample(
            name: "export_cache",
            body: .exportCache(
                ExportCache(format: .adalArchive, sharingGroup: group, includesSecrets: true, exportID: "x-1"))),
        Sample(name: "get_key", body: .getKey(GetKey())),
        Sample(name: "set_key", body: .setKey(SetKey(source: .passphrase, passphrase: Secret("correct horse")))),
        Sample(name: "unlock", body: .unlock(Unlock(passphrase: Secret("correct horse")))),
    ]

    static let replies: [Sample<Reply.Body>] = [
        Sample(name: "failure", body: .failure(failure)),
        Sample(
            name: "hello",
            body: .hello(Hello.Reply(protocolVersion: 1, agentVersion: "0.1.0", requests: [10, 11, 20]))),
        Sample(name: "acquire_token_silent", body: .acquireTokenSilent(result)),
        Sample(
            name: "begin_interactive",
            body: .beginInteractive(
                BeginInteractive.Reply(
                    sessionID: "s-1", authorizationURL: "https://login.example.com/contoso/oauth2/v2.0/authorize?x=1",
                    redirectURI: "http://localhost:8400/", expiresIn: 300))),
        Sample(name: "complete_interactive", body: .completeInteractive(result)),
        Sample(
            name: "begin_device_code",
            body: .beginDeviceCode(
                BeginDeviceCode.Reply(
                    sessionID: "s-2", userCode: "ABCD-EFGH", verificationURL: "https://example.com/device",
                    message: "Type ABCD-EFGH at https://example.com/device.", expiresIn: 900))),
        Sample(name: "complete_device_code", body: .completeDeviceCode(result)),
        Sample(name: "cancel_interaction", body: .cancelInteraction),
        Sample(name: "list_accounts", body: .listAccounts(ListAccounts.Reply(accounts: [account], next: "page-3"))),
        Sample(name: "remove_account", body: .removeAccount(RemoveAccount.Reply(removed: true))),
        Sample(
            name: "get_status",
            body: .getStatus(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1,
                    socketPath: "/run/user/1000/sso-agent/agent.sock",
                    stateDirectory: "/home/ada/.local/state/sso-agent",
                    uptimeSeconds: 3600, accounts: 2))),
        Sample(
            name: "diagnose",
            body: .diagnose(
                Diagnose.Reply(checks: [
                    HealthCheck(name: "store", ok: true, detail: "2 accounts"),
                    HealthCheck(name: "network", ok: false, detail: "no route", hint: "check the proxy"),
                ]))),
        Sample(
            name: "list_credentials",
            body: .listCredentials(ListCredentials.Reply(credentials: [credential], next: "page-5"))),
        Sample(name: "remove_credential", body: .removeCredential(RemoveCredential.Reply(removed: true))),
        Sample(name: "redeem_grant", body: .redeemGrant(result)),
        Sample(
            name: "get_current_account",
            body: .getCurrentAccount(GetCurrentAccount.Reply(account: account, previous: account))),
        Sample(
            name: "import_cache",
            body: .importCache(
                ImportCache.Reply(
                    importID: "i-1",
                    report: ImportCache.Report(
                        accounts: 2, refreshTokens: 3, accessTokens: 4, idTokens: 5,
                        skipped: [
                            ImportCache.Skipped(entry: "access token, ada@example.com", reason: "it has expired")
                        ], skippedCount: 300)))),
        Sample(
            name: "export_cache",
            body: .exportCache(
                ExportCache.Reply(
                    data: Secret(bytes: Array("bplist00".utf8) + [0, 0xFF]), remaining: 70_000, next: "x-1"))),
        Sample(
            name: "get_status of a damaged store",
            body: .getStatus(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1,
                    socketPath: "/run/user/1000/sso-agent/agent.sock",
                    stateDirectory: "/home/ada/.local/state/sso-agent", uptimeSeconds: 3600, accounts: 2,
                    quarantined: ["cache.sqlite.quarantine-20300317T174640Z"], storeProblem: "the disk is full"))),
        Sample(name: "get_key", body: .getKey(keyStatus)),
        Sample(name: "set_key", body: .setKey(keyStatus)),
        Sample(name: "unlock", body: .unlock(keyStatus)),
    ]

    static let keyStatus = KeyStatus(
        source: .passphrase, place: "nowhere", isOpen: false, problem: "the store is locked")
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

    static let silent = AcquireTokenSilent(
        parameters: parameters, account: account.reference, forceRefresh: true, expirationBuffer: 60,
        allowsExtendedLifetime: true)

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
