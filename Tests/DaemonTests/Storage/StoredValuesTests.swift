internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenStore

/// Values of earlier versions that are too long for a reply: they are repaired at the next start, and can be listed and removed.
@Suite(.bounded) struct StoredValuesTests {
    private static let group = "com.microsoft.adalcache"
    private static let tenant = "7a1e0000-0000-4000-8000-000000000001"

    @Test func repairsAccountsOfAnEarlierVersion() async throws {
        try await AgentProcessFixture.with { f in
            let count = try await Self.fill(f)
            let names: [String]
            do {
                let agent = try await f.agent()
                let accounts = try await Self.accounts(f)
                #expect(accounts.count == count)
                let many = try #require(accounts.first { $0["username"] as? String == "many@contoso.com" })
                #expect((many["tenantProfiles"] as? [Any])?.count == 300)
                names = accounts.compactMap { $0["username"] as? String }.sorted()
                #expect(names.contains("nul @contoso.com"))
                #expect(names.contains { $0.utf8.count == 4096 })
                // An account with valid values is unchanged.
                #expect(names.contains("alice@contoso.com"))
                // The next agent starts when this one has released its lock.
                try await agent.process.killHard()
            }
            // The repair is stored: after the next start, the names are the same.
            let agent = try await f.agent(["--log-level", "debug"])
            #expect(try await Self.accounts(f).compactMap { $0["username"] as? String }.sorted() == names)
            for account in try await Self.accounts(f) {
                let which =
                    if let identifier = account["identifier"] as? String { ["--account", identifier] } else {
                        ["--username", try #require(account["username"] as? String)]
                    }
                let ended = try await f.run(
                    "ssoctl", ["sign-out", "--client-id", "app-1", "--wipe", "--json"] + which)
                #expect(ended.status == 0, "\(ended.errors)\(ended.output)")
            }
            #expect(try await Self.accounts(f).isEmpty)
            withExtendedLifetime(agent) {}
        }
    }

    private static func accounts(_ f: AgentProcessFixture) async throws -> [[String: Any]] {
        let ended = try await f.run("ssoctl", ["accounts", "--json"])
        #expect(ended.status == 0, "\(ended.errors)\(ended.output)")
        let root = try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any]
        return try #require(root?["accounts"] as? [[String: Any]])
    }

    /// Creates a store as of an earlier version, and returns the number of accounts in it.
    private static func fill(_ f: AgentProcessFixture) async throws -> Int {
        let store = try Store.open(directory: f.folder.file("state"), StoreOptions(now: { 1_800_000_000 }))
        _ = try await store.load(into: [StoredRecord].self)
        let long = String(repeating: "x", count: 5000)
        let homes = [
            ("alice.\(tenant)", "alice@contoso.com"), ("\(long).\(tenant)", "long@contoso.com"),
            ("n\0.\(tenant)", "nul-in-identifier@contoso.com"), ("bob.\(tenant)", "nul\0@contoso.com"),
            ("carol.\(tenant)", long),
        ]
        var changes: [StoreChange] = []
        for (home, name) in homes {
            changes.append(try account(home, name, realm: tenant))
            changes.append(try refreshToken(home))
        }
        for number in 0..<300 {
            changes.append(try account("many.\(tenant)", "many@contoso.com", realm: "realm-\(number)"))
        }
        changes.append(try refreshToken("many.\(tenant)"))
        // An account without an identifier.
        changes.append(try account(nil, "\(long)@contoso.com", realm: "common"))
        try await store.commit(changes)
        await store.close()
        return homes.count + 2
    }

    private static func account(_ home: String?, _ name: String, realm: String) throws -> StoreChange {
        var body = [
            "environment": "login.windows.net", "realm": realm, "username": name, "authority_type": "MSSTS",
            "source": "msal",
        ]
        body["home_account_id"] = home
        return try put(.account, "\(home ?? "name:\(name)")-login.windows.net-\(realm)", body)
    }

    private static func refreshToken(_ home: String) throws -> StoreChange {
        try put(
            .refreshToken, "\(home)-login.windows.net-refreshtoken-app-1--",
            [
                "credential_type": "RefreshToken", "home_account_id": home, "environment": "login.windows.net",
                "client_id": "app-1", "secret": "rt",
            ])
    }

    private static func put(_ kind: RecordKind, _ key: String, _ body: [String: String]) throws -> StoreChange {
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: body))
        return .put(StoredRecord(key: RecordKey(group: group, kind: kind, key: key.lowercased()), body: bytes))
    }
}
