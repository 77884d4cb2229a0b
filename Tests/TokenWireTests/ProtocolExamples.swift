internal import Testing
internal import TokenModel
internal import TokenWire

/// The values that the examples of PROTOCOL.md encode, by their heading.
enum ProtocolExamples {
    static func requests() throws -> [String: AnyRequest] {
        let parameters = try parameters()
        let account = AccountReference(homeAccountID: HomeAccountID("uid.utid"))
        var silent = AcquireTokenSilent(parameters: parameters, account: account)
        silent.acceptsSingleIDToken = false
        return [
            "hello": AnyRequest(Hello(appName: "notes 2.1"), id: 1),
            "acquire_token_silent": AnyRequest(silent, id: 2),
            "begin_interactive": AnyRequest(
                BeginInteractive(parameters: parameters, prompt: "select_account", loginHint: "ada@example.com"), id: 3),
            "complete_interactive": AnyRequest(CompleteInteractive(sessionID: "s-7"), id: 4),
            "begin_device_code": AnyRequest(BeginDeviceCode(parameters: parameters), id: 5),
            "complete_device_code": AnyRequest(CompleteDeviceCode(sessionID: "s-8"), id: 6),
            "cancel_interaction": AnyRequest(CancelInteraction(sessionID: "s-7"), id: 7),
            "list_accounts": AnyRequest(
                ListAccounts(clientID: parameters.clientID, username: "ada@example.com"), id: 8),
            "remove_account": AnyRequest(RemoveAccount(clientID: parameters.clientID, account: account), id: 9),
            "get_status": AnyRequest(GetStatus(), id: 10),
            "diagnose": AnyRequest(Diagnose(authority: parameters.authority), id: 11),
            "list_credentials": AnyRequest(ListCredentials(version: .v1), id: 12),
            "remove_credential": AnyRequest(RemoveCredential(id: "rt-1"), id: 13),
            "redeem_grant": AnyRequest(
                RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("0.AXYA")), id: 14),
            "get_current_account": AnyRequest(GetCurrentAccount(clientID: parameters.clientID), id: 15),
            "import_cache": AnyRequest(
                ImportCache(format: .msalJSON, data: Secret(#"{"Account":{}}"#), isLast: true), id: 16),
            "export_cache": AnyRequest(ExportCache(format: .msalJSON, includesSecrets: true), id: 17),
            "get_key": AnyRequest(GetKey(), id: 16),
            "set_key": AnyRequest(SetKey(source: .passphrase, passphrase: Secret("correct horse")), id: 17),
            "unlock": AnyRequest(Unlock(passphrase: Secret("correct horse")), id: 18),
            "lock": AnyRequest(Lock(), id: 19),
            "watch_events": AnyRequest(
                WatchEvents(
                    clientID: parameters.clientID, position: EventPosition(feed: 7700, generation: 41)), id: 23),
            "publish_socket": AnyRequest(
                PublishSocket(
                    path: "/srv/build/sso.sock", userIDs: [1001], clientIDs: [parameters.clientID],
                    scopes: ScopeSet(["User.Read"]), account: "ada@example.com", label: "build"), id: 20),
            "list_sockets": AnyRequest(ListSockets(), id: 21),
            "unpublish_socket": AnyRequest(UnpublishSocket(name: "build"), id: 22),
            "reload_configuration": AnyRequest(ReloadConfiguration(), id: 23),
        ]
    }

    static func replies() throws -> [String: AnyReply] {
        let credential = Credential(
            id: "rt-1", kind: .refreshToken, clientID: try #require(ClientID("mail")),
            authority: "https://login.windows.net/common",
            account: AccountReference(homeAccountID: HomeAccountID("uid.utid")))
        return [
            "hello": AnyReply(
                Hello.Reply(protocolVersion: 1, agentVersion: "0.1.0", requests: [10, 11, 17]), to: Hello.self, id: 1),
            "acquire_token_silent": AnyReply(result(isFromCache: true), to: AcquireTokenSilent.self, id: 2),
            "begin_interactive": AnyReply(
                BeginInteractive.Reply(
                    sessionID: "s-7",
                    authorizationURL:
                        "https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize?client_id=notes",
                    redirectURI: "http://localhost:49152", expiresIn: 600, launchURL: "http://127.0.0.1:49152/kX3"),
                to: BeginInteractive.self, id: 3),
            "complete_interactive": AnyReply(result(isFromCache: false), to: CompleteInteractive.self, id: 4),
            "begin_device_code": AnyReply(
                BeginDeviceCode.Reply(
                    sessionID: "s-8", userCode: "ABCD-EFGH",
                    verificationURL: "https://microsoft.com/devicelogin",
                    message: "Open https://microsoft.com/devicelogin and type ABCD-EFGH.", expiresIn: 900),
                to: BeginDeviceCode.self, id: 5),
            "complete_device_code": AnyReply(result(isFromCache: false), to: CompleteDeviceCode.self, id: 6),
            "cancel_interaction": AnyReply(CancelInteraction.Reply(), to: CancelInteraction.self, id: 7),
            "list_accounts": AnyReply(
                ListAccounts.Reply(accounts: [account(with: [profile])], next: "2"), to: ListAccounts.self, id: 8),
            "remove_account": AnyReply(RemoveAccount.Reply(removed: true), to: RemoveAccount.self, id: 9),
            "get_status": AnyReply(
                AgentStatus(
                    processID: 4242, version: "0.1.0", protocolVersion: 1,
                    socketPath: "/run/user/1000/sso-agent/agent.sock",
                    stateDirectory: "/home/ada/.local/state/sso-agent", uptimeSeconds: 3600, accounts: 2),
                to: GetStatus.self, id: 10),
            "diagnose": AnyReply(
                Diagnose.Reply(checks: [
                    HealthCheck(name: "store", ok: true, detail: "2 accounts"),
                    HealthCheck(name: "network", ok: false, detail: "no answer", hint: "check the proxy"),
                ]), to: Diagnose.self, id: 11),
            "list_credentials": AnyReply(
                ListCredentials.Reply(credentials: [credential]), to: ListCredentials.self, id: 12),
            "remove_credential": AnyReply(RemoveCredential.Reply(removed: true), to: RemoveCredential.self, id: 13),
            "redeem_grant": AnyReply(result(isFromCache: false), to: RedeemGrant.self, id: 14),
            "get_current_account": AnyReply(
                GetCurrentAccount.Reply(account: account(), previous: account()), to: GetCurrentAccount.self, id: 15),
            "import_cache": AnyReply(
                ImportCache.Reply(
                    importID: "i-7",
                    report: ImportCache.Report(
                        accounts: 1, refreshTokens: 1,
                        skipped: [
                            ImportCache.Skipped(
                                entry: "access token, ada@example.com, app notes", reason: "it has expired")
                        ], skippedCount: 1)), to: ImportCache.self, id: 16),
            "export_cache": AnyReply(ExportCache.Reply(data: Secret(#"{"Account":{}}"#)), to: ExportCache.self, id: 17),
            "get_key": AnyReply(
                KeyStatus(source: .passphrase, place: "", isOpen: false, problem: "the store is locked"),
                to: GetKey.self, id: 16),
            "set_key": AnyReply(KeyStatus(source: .passphrase, place: "", isOpen: true), to: SetKey.self, id: 17),
            "unlock": AnyReply(KeyStatus(source: .passphrase, place: "", isOpen: true), to: Unlock.self, id: 18),
            "lock": AnyReply(
                KeyStatus(source: .passphrase, place: "", isOpen: false, problem: "the store was locked"),
                to: Lock.self,
                id: 19),
            "watch_events": AnyReply(
                WatchEvents.Reply(
                    position: EventPosition(feed: 7700, generation: 42),
                    events: [
                        AgentEvent(
                            .signedOut, position: EventPosition(feed: 7700, generation: 42), time: 1_900_000_000,
                            account: Account(
                                homeAccountID: HomeAccountID("uid.utid"), username: "ada@example.com",
                                environment: "login.windows.net", source: .msal), clientID: ClientID("notes"))
                    ]), to: WatchEvents.self, id: 23),
            "publish_socket": AnyReply(try published(connections: 0), to: PublishSocket.self, id: 20),
            "list_sockets": AnyReply(
                ListSockets.Reply(sockets: [try published(connections: 1)]), to: ListSockets.self, id: 21),
            "reload_configuration": AnyReply(
                ReloadConfiguration.Reply(
                    files: ["/etc/sso-agent/config.toml"], applied: ["rules: 2 instead of 1"],
                    awaitingRestart: ["network.proxy"]), to: ReloadConfiguration.self, id: 23),
            "unpublish_socket": AnyReply(UnpublishSocket.Reply(label: "build"), to: UnpublishSocket.self, id: 22),
            "Failures": AnyReply(failure: failure, id: 2),
        ]
    }

    private static let failure: TokenError = {
        var details = TokenError.Details()
        details.oauthError = "invalid_grant"
        details.subError = "basic_action"
        details.correlationID = WireSamples.correlationID
        return TokenError(.interactionRequired, "sign in again", details: details)
    }()

    private static let profile = TenantProfile(
        realm: "utid", localAccountID: "uid", username: "ada@example.com", environment: "login.windows.net",
        isHome: true)

    private static func parameters() throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID("notes")), authority: Authority.common.withRealm("organizations"),
            scopes: ScopeSet(["User.Read"]), correlationID: WireSamples.correlationID)
    }

    private static func published(connections: Int64) throws -> PublishedSocket {
        PublishedSocket(
            path: "/srv/build/sso.sock", label: "build", userIDs: [1001],
            clientIDs: [try #require(ClientID("notes"))], sharingGroup: .standard, scopes: ScopeSet(["User.Read"]),
            authorities: [], account: account().reference, expiresOn: 1_900_000_000, connections: connections)
    }

    private static func account(with profiles: [TenantProfile] = []) -> Account {
        Account(
            homeAccountID: HomeAccountID("uid.utid"), username: "ada@example.com", environment: "login.windows.net",
            source: .msal, tenantProfiles: profiles)
    }

    private static func result(isFromCache: Bool) -> TokenResult {
        TokenResult(
            accessToken: Secret("eyJ0.eyJh.c2ln"), tokenType: "Bearer", expiresOn: 1_900_000_000,
            scopes: ["User.Read"], idToken: nil, account: account(), tenantProfile: nil,
            authority: "https://login.microsoftonline.com/utid", correlationID: WireSamples.correlationID,
            isFromCache: isFromCache)
    }
}
