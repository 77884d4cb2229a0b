internal import Testing
internal import TokenModel
internal import TokenWire

/// What the examples in PROTOCOL.md stand for, by the heading they are under.
enum ProtocolExamples {
    static func requests() throws -> [String: Request] {
        let parameters = try parameters()
        let account = AccountReference(homeAccountID: HomeAccountID("uid.utid"))
        return [
            "hello": Request(id: 1, .hello(Hello(appName: "notes 2.1"))),
            "acquire_token_silent": Request(
                id: 2, .acquireTokenSilent(AcquireTokenSilent(parameters: parameters, account: account))),
            "begin_interactive": Request(
                id: 3,
                .beginInteractive(
                    BeginInteractive(parameters: parameters, prompt: "select_account", loginHint: "ada@example.com"))),
            "complete_interactive": Request(id: 4, .completeInteractive(CompleteInteractive(sessionID: "s-7"))),
            "begin_device_code": Request(id: 5, .beginDeviceCode(BeginDeviceCode(parameters: parameters))),
            "complete_device_code": Request(id: 6, .completeDeviceCode(CompleteDeviceCode(sessionID: "s-8"))),
            "cancel_interaction": Request(id: 7, .cancelInteraction(CancelInteraction(sessionID: "s-7"))),
            "list_accounts": Request(
                id: 8, .listAccounts(ListAccounts(clientID: parameters.clientID, username: "ada@example.com"))),
            "remove_account": Request(
                id: 9, .removeAccount(RemoveAccount(clientID: parameters.clientID, account: account))),
            "get_status": Request(id: 10, .getStatus(GetStatus())),
            "diagnose": Request(id: 11, .diagnose(Diagnose(authority: parameters.authority))),
            "list_credentials": Request(id: 12, .listCredentials(ListCredentials(version: .v1))),
            "remove_credential": Request(id: 13, .removeCredential(RemoveCredential(id: "rt-1"))),
            "redeem_grant": Request(
                id: 14,
                .redeemGrant(RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("0.AXYA")))),
            "get_current_account": Request(
                id: 15, .getCurrentAccount(GetCurrentAccount(clientID: parameters.clientID))),
            "import_cache": Request(
                id: 16, .importCache(ImportCache(format: .msalJSON, data: Secret(#"{"Account":{}}"#), isLast: true))),
            "export_cache": Request(id: 17, .exportCache(ExportCache(format: .msalJSON, includesSecrets: true))),
            "get_key": Request(id: 16, .getKey(GetKey())),
            "set_key": Request(id: 17, .setKey(SetKey(source: .passphrase, passphrase: Secret("correct horse")))),
            "unlock": Request(id: 18, .unlock(Unlock(passphrase: Secret("correct horse")))),
        ]
    }

    static func replies() throws -> [String: Reply] {
        let credential = Credential(
            id: "rt-1", kind: .refreshToken, clientID: try #require(ClientID("mail")),
            authority: "https://login.windows.net/common",
            account: AccountReference(homeAccountID: HomeAccountID("uid.utid")))
        return [
            "hello": Reply(
                id: 1,
                .hello(Hello.Reply(protocolVersion: 1, agentVersion: "0.1.0", requests: [10, 11, 17]))),
            "acquire_token_silent": Reply(id: 2, .acquireTokenSilent(result(isFromCache: true))),
            "begin_interactive": Reply(
                id: 3,
                .beginInteractive(
                    BeginInteractive.Reply(
                        sessionID: "s-7",
                        authorizationURL:
                            "https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize?client_id=notes",
                        redirectURI: "http://localhost:49152", expiresIn: 600))),
            "complete_interactive": Reply(id: 4, .completeInteractive(result(isFromCache: false))),
            "begin_device_code": Reply(
                id: 5,
                .beginDeviceCode(
                    BeginDeviceCode.Reply(
                        sessionID: "s-8", userCode: "ABCD-EFGH",
                        verificationURL: "https://microsoft.com/devicelogin",
                        message: "Open https://microsoft.com/devicelogin and type ABCD-EFGH.", expiresIn: 900))),
            "complete_device_code": Reply(id: 6, .completeDeviceCode(result(isFromCache: false))),
            "cancel_interaction": Reply(id: 7, .cancelInteraction),
            "list_accounts": Reply(
                id: 8, .listAccounts(ListAccounts.Reply(accounts: [account(with: [profile])], next: "2"))),
            "remove_account": Reply(id: 9, .removeAccount(RemoveAccount.Reply(removed: true))),
            "get_status": Reply(
                id: 10,
                .getStatus(
                    AgentStatus(
                        processID: 4242, version: "0.1.0", protocolVersion: 1,
                        socketPath: "/run/user/1000/sso-agent/agent.sock",
                        stateDirectory: "/home/ada/.local/state/sso-agent", uptimeSeconds: 3600, accounts: 2))),
            "diagnose": Reply(
                id: 11,
                .diagnose(
                    Diagnose.Reply(checks: [
                        HealthCheck(name: "store", ok: true, detail: "2 accounts"),
                        HealthCheck(name: "network", ok: false, detail: "no answer", hint: "check the proxy"),
                    ]))),
            "list_credentials": Reply(id: 12, .listCredentials(ListCredentials.Reply(credentials: [credential]))),
            "remove_credential": Reply(id: 13, .removeCredential(RemoveCredential.Reply(removed: true))),
            "redeem_grant": Reply(id: 14, .redeemGrant(result(isFromCache: false))),
            "get_current_account": Reply(
                id: 15, .getCurrentAccount(GetCurrentAccount.Reply(account: account(), previous: account()))),
            "import_cache": Reply(
                id: 16,
                .importCache(
                    ImportCache.Reply(
                        importID: "i-7",
                        report: ImportCache.Report(
                            accounts: 1, refreshTokens: 1,
                            skipped: [
                                ImportCache.Skipped(
                                    entry: "access token, ada@example.com, app notes", reason: "it has expired")
                            ], skippedCount: 1)))),
            "export_cache": Reply(
                id: 17, .exportCache(ExportCache.Reply(data: Secret(#"{"Account":{}}"#)))),
            "get_key": Reply(
                id: 16,
                .getKey(KeyStatus(source: .passphrase, place: "", isOpen: false, problem: "the store is locked"))),
            "set_key": Reply(id: 17, .setKey(KeyStatus(source: .passphrase, place: "", isOpen: true))),
            "unlock": Reply(id: 18, .unlock(KeyStatus(source: .passphrase, place: "", isOpen: true))),
            "Failures": Reply(id: 2, .failure(failure)),
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
