internal import AccessPolicy
internal import TokenModel

/// Peers of each class, and every request of the protocol, some in several forms.
enum PolicySamples {
    static let installed = PeerIdentity(
        userID: 1000, executable: .init(path: "/usr/bin/notes", isInstalled: true, isAtPath: true))
    static let other = PeerIdentity(
        userID: 1000, executable: .init(path: "/home/u/notes", isInstalled: false, isAtPath: false))
    static let notes = PeerIdentity(userID: 1000, sandbox: .init(app: "flatpak:org.contoso.Notes"))
    static let unknownSandbox = PeerIdentity(userID: 1000, sandbox: .init(app: nil))

    static let export = request("export_cache", ExportCache(format: .msalJSON, includesSecrets: true))

    static let publish = request("publish_socket", PublishSocket(path: "/s", clientIDs: []))

    static let requests: [PolicyRequest] =
        ["notes", "mail"].flatMap(requests) + [
            request("hello", Hello(appName: "x")),
            request("complete_interactive", CompleteInteractive(sessionID: "s")),
            request("complete_device_code", CompleteDeviceCode(sessionID: "s")),
            request("cancel_interaction", CancelInteraction(sessionID: "s")),
            request("list_accounts", ListAccounts(clientID: nil)),
            request("watch_events", WatchEvents(clientID: nil)),
            request("get_status", GetStatus()), request("diagnose", Diagnose()),
            request("list_credentials", ListCredentials()), request("remove_credential", RemoveCredential(id: "c")),
            request("import_cache", ImportCache(format: .msalJSON, data: Secret(""), isLast: true)),
            request("import_cache", ImportCache(format: .msalJSON, importID: "i", data: Secret(""), isLast: true)),
            export, publish,
            request("export_cache", ExportCache(format: .msalJSON, includesSecrets: true, exportID: "x")),
            request("get_key", GetKey()), request("set_key", SetKey(source: .file)), request("unlock", Unlock()),
            request("lock", Lock()), request("list_sockets", ListSockets()),
            request("unpublish_socket", UnpublishSocket(name: "s")),
            request("reload_configuration", ReloadConfiguration()),
        ]

    static func clients(_ names: String...) -> Set<ClientID> { Set(names.compactMap(ClientID.init)) }

    static func request(_ name: String, _ request: some AgentRequest) -> PolicyRequest {
        PolicyRequest(name: name, subject: request.subject)
    }

    private static func requests(of app: String) -> [PolicyRequest] {
        guard let clientID = ClientID(app) else { return [] }
        let parameters = TokenParameters(clientID: clientID, scopes: ScopeSet(["User.Read"]))
        let account = AccountReference(username: "alice@contoso.com")
        return [
            request("acquire_token_silent", AcquireTokenSilent(parameters: parameters, account: account)),
            request("begin_interactive", BeginInteractive(parameters: parameters)),
            request("begin_device_code", BeginDeviceCode(parameters: parameters)),
            request("redeem_grant", RedeemGrant(parameters: parameters, kind: .refreshToken, grant: Secret("r"))),
            request("list_accounts", ListAccounts(clientID: clientID)),
            request("watch_events", WatchEvents(clientID: clientID)),
            request("list_accounts", ListAccounts(clientID: clientID, onlySignedIn: false)),
            request("get_current_account", GetCurrentAccount(clientID: clientID)),
            request("remove_account", RemoveAccount(clientID: clientID, account: account)),
            request("remove_account", RemoveAccount(clientID: clientID, account: account, extent: .account)),
            request("remove_account", RemoveAccount(clientID: clientID, account: account, extent: .everything)),
        ]
    }
}
