internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

/// The account that a published socket serves.
@Suite(.bounded) struct PublishedAccountTests {
    /// The account is looked for in the sharing group of the socket.
    @Test(
        arguments: [
            (nil, "ssoctl accounts"), ("a b", "ssoctl accounts --group 'a b'"), ("-g", "ssoctl accounts --group=-g"),
        ] as [(String?, String)])
    func refusesAnAccountThatIsNotSignedIn(group: String?, next: String) async throws {
        try await AgentFixture.with { f in
            let request = PublishSocket(
                path: f.folder.file("x.sock"), clientIDs: [try #require(ClientID("app-1"))],
                sharingGroup: try group.map { try #require(SharingGroup($0)) } ?? .standard, account: "alice")
            let error = await #expect(throws: TokenError.self) { try await f.agent.publishSocket(request) }
            #expect(error?.code == .accountNotFound)
            #expect(error?.details.nextCommand == next)
        }
    }

    /// An earlier version has stored it for a provider of which the user has no account any more.
    @Test func publishesAnAccountBesideATokenOfAnUnknownOne() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account
            let identifier = try #require(alice.homeAccountID)
            await f.stop()
            try await Self.add(Self.token(of: identifier), toStoreIn: f.folder.file("state"))
            try await f.restarted { (f) async throws in
                try await f.published(account: identifier.text) { client in
                    let token = try await f.token(client, f.parameters(), alice.reference)
                    #expect(token.isFromCache)
                }
            }
        }
    }

    /// An app of ADAL knows no other name of its user than the ID that it has got.
    @Test func servesItsAccountByEachNameThatTheCacheHasForIt() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.idTokenClaims = ["preferred_username": "al@contoso.com"]
            let parameters = try f.parameters(resource: "https://graph.example.com")
            let alice = try await f.signIn("alice@contoso.com", parameters).account
            try #require(alice.username == "al@contoso.com")
            try await f.published(account: alice.homeAccountID?.text) { client in
                for name in ["Alice@contoso.com", "al@contoso.com"] {
                    let token = try await f.token(client, parameters, AccountReference(username: name))
                    #expect(token.isFromCache)
                }
                await f.expectDenied(client, parameters, AccountReference(username: "bob@contoso.com"))
            }
        }
    }

    /// An older ADAL has left the work account without an identifier.
    @Test func publishesAWorkAccountThatOnlyItsNameIdentifiesBesideAPersonalOne() async throws {
        try await AgentFixture.with { f in
            let (host, tenant) = ("login.microsoftonline.com", HomeAccountID.personalTenantID)
            let work = """
                [{"userId": "alice@contoso.com", "_authority": "https://\(host)/common", "_clientId": "app-1", "refreshToken": "rt",
                  "isMRRT": true}]
                """
            let personal = """
                {"Account": {"a": {"home_account_id": "alice.\(tenant)", "environment": "\(host)", "realm": "\(tenant)",
                  "username": "alice@contoso.com", "authority_type": "MSSTS"}}}
                """
            _ = try await f.agent.importCache(Secret(work), format: .adalJSON)
            _ = try await f.agent.importCache(Secret(personal), format: .msalJSON)
            for (name, identifier) in [("alice@contoso.com", nil), ("alice.\(tenant)", "alice.\(tenant)")] {
                let path = f.folder.file("x.sock")
                let socket = try await f.agent.publishSocket(
                    PublishSocket(path: path, clientIDs: [try #require(ClientID("app-1"))], account: name))
                #expect(socket.account.homeAccountID?.text == identifier)
                #expect(socket.account.username == "alice@contoso.com")
                _ = try await f.agent.unpublishSocket(UnpublishSocket(name: path))
            }
        }
    }

    private static func add(_ record: StoredRecord, toStoreIn folder: String) async throws {
        let store = try Store.open(directory: folder, StoreOptions(now: { 1_800_000_000 }))
        _ = try await store.load(into: [StoredRecord].self)
        try await store.commit([.put(record)])
        await store.close()
    }

    private static func token(of account: HomeAccountID) -> StoredRecord {
        let body = """
            {"credential_type":"RefreshToken","home_account_id":"\(account)","environment":"fs.contoso.example",
            "client_id":"app-1","secret":"rt"}
            """
        return StoredRecord(
            key: RecordKey(
                group: SharingGroup.standard.name, kind: .refreshToken,
                key: "\(account)-fs.contoso.example-refreshtoken-app-1--"),
            body: Array(body.utf8))
    }
}
