internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// The forms in which commands print their results.
@Suite(.bounded) struct CommandOutputTests {
    private func withToken(_ body: (AgentProcessFixture) async throws -> Void) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            try await body(f)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func printsATokenAsHeaderAsClaimsAndIntoAFile() async throws {
        try await withToken { f in
            let token = try await f.ssoctl(["token"]).output
            let header = try await f.ssoctl(["token", "--header"]).output
            #expect(header == "Authorization: Bearer \(token)")
            let file = f.folder.file("token")
            try "old".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(try await f.ssoctl(["token", "--header", "--output", file]).output.isEmpty)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == header)
            #expect(try TemporaryFolder.mode(of: file) == 0o600)
            let folder = try await f.ssoctl(["token", "--output", f.folder.path], status: 1).errors
            #expect(folder.contains("is a directory"), "\(folder)")
            let missing = f.folder.file("new")
            let failed = try await f.failure(["token", "--output", missing + "/token"], status: 1)
            #expect(failed["nextCommand"] as? String == "mkdir -p \(missing)", "\(failed)")
            let identity = try await f.ssoctl(["token", "--id-token"]).output
            #expect(identity != token && identity.split(separator: ".").count == 3)
            let claims = try await f.ssoctl(["token", "--id-token", "--decode"]).output
            let object = try JSONSerialization.jsonObject(with: Data(claims.utf8)) as? [String: Any]
            #expect(object?["preferred_username"] as? String == "alice@contoso.com", "\(claims)")
            let decoded = try await f.json(["token", "--decode"])
            #expect((decoded["claims"] as? [String: Any])?["aud"] != nil, "\(decoded)")
            try await f.ssoctl(["token", "--header", "--json"], status: 64)
        }
    }

    /// A script that asks for an ID token, or for claims, does not get a token that opens a resource into its log.
    @Test func printsNoOtherTokenInJSONThanTheOneThatWasAskedFor() async throws {
        try await withToken { f in
            let token = try await f.json(["token", "--id-token"])
            #expect(Set(token.keys) == ["idToken", "expiresOn", "account", "fromCache"])
            let plain = try await f.ssoctl(["token", "--id-token"]).output
            #expect(plain == "\(token["idToken"] as? String ?? "?")\n")
            let identity = try await f.json(["token", "--id-token", "--decode"])
            #expect(Set(identity.keys) == ["claims", "expiresOn", "account", "fromCache"])
            let end = try #require((identity["claims"] as? [String: Any])?["exp"] as? Int)
            #expect(identity["expiresOn"] as? Int == end && token["expiresOn"] as? Int == end)
            let access = try await f.json(["token", "--decode"])
            #expect(Set(access.keys) == ["claims", "expiresOn", "scopes", "tokenType", "account", "fromCache"])
        }
    }

    /// An older ADAL has saved the access token alone.
    @Test func printsNoAccessTokenInPlaceOfAMissingIDToken() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let authority = "https://login.microsoftonline.com/fabrikam.com"
            try await f.importGuestToken("guest-token", of: "zoe@contoso.com", at: authority)
            let app = ["--client-id", "app-2", "--resource", "https://api", "--authority", authority]
            let token = ["token", "--username", "zoe@contoso.com"] + app
            #expect(try await f.ssoctl(token).output == "guest-token\n")
            let ended = try await f.ssoctl(token + ["--id-token"], status: 1)
            #expect(ended.output.isEmpty && ended.errors.contains("there is no ID token"), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    /// As B2C answers a request for no resource. A script would send an empty token.
    @Test func failsIfOnlyAnIDTokenWasIssued() async throws {
        try await withToken { f in
            f.emulator.control.settings.tokenReply = ["access_token": nil]
            let token = ["token", "--force-refresh"]
            for words in [token, token + ["--header"], token + ["--decode"]] {
                let ended = try await f.ssoctl(words, status: 1)
                #expect(ended.output.isEmpty && ended.errors.contains("no access token"), "\(words): \(ended)")
            }
            #expect(try await f.ssoctl(token + ["--id-token"]).output.count > 1)
        }
    }

    /// A script that stores a token takes an empty file for one otherwise.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "Linux only"))
    func failsIfItsOutputIsLost() async throws {
        try await withToken { f in
            for words in [
                "ssoctl token", "ssoctl token --json", "ssoctl accounts", "ssoctl --help", "ssoctl audit",
                "ssoctl audit --json", "ssoctl audit --follow", "ssoctl watch", "sso-agent --check-config",
                "sso-agent --help", "sso-agent --version",
            ] {
                let name = words.split(separator: " ")[0]
                let line = "\(Executable.path(String(name)))\(words.dropFirst(name.count)) >/dev/full"
                let ended = try await TestProcess("/bin/sh", ["-c", line], environment: f.environment).finish()
                #expect(ended.status == 1, "\(words)")
                let reason = "the output cannot be written: No space left on device"
                #expect(ended.errors.contains(reason), "\(ended.errors)")
            }
        }
    }

    /// Plain command lines are not read by ArgumentParser; those with “=” are.
    @Test(arguments: [
        ["token", "graph"], ["token", "--app", "graph", "--header"], ["token", "--account", "alice", "--json"],
        ["token", "--client-id", "app-1", "--scope", "User.Read", "--username", "alice@contoso.com"],
        ["token", "--client-id", "app-1", "-s", "User.Read", "--group", "other"], ["token", "none"],
        ["token", "graph", "--app", "graph"], ["token", "--resource", "https://graph.microsoft.com"],
        ["token", "--min-valid", "1", "--id-token", "--decode"], ["token", "--min-valid", "-1"],
        ["token", "--min-valid", "x"], ["token", "--scope", ""], ["token", "--header", "--json"],
        ["token", "--authority", "https://login.example.test/common", "--scope", "User.Read"],
        ["token", "--json", "none"],
    ])
    func readsAPlainTokenCommandAsArgumentParserDoes(_ plain: [String]) async throws {
        try await withToken { f in
            let first = try await TestProcess("ssoctl", plain, environment: f.environment).finish()
            let parsed = Self.withEqualSigns(plain)
            let second = try await TestProcess("ssoctl", parsed, environment: f.environment).finish()
            #expect(first.status == second.status, "\(first.errors)\(second.errors)")
            #expect(first.output == second.output)
        }
    }

    /// The command line in a form that is not plain.
    private static func withEqualSigns(_ words: [String]) -> [String] {
        let options = [
            "--app", "--account", "--client-id", "--scope", "--username", "--group", "--resource", "--authority",
        ]
        var (changed, rest) = ([String](), words[...])
        while let word = rest.popFirst() {
            changed.append(options.contains(word) ? "\(word)=\(rest.popFirst() ?? "")" : word)
        }
        // The default, without an effect.
        return words.contains("--min-valid") ? changed + ["--authority-kind=entra"] : changed + ["--min-valid=300"]
    }

    @Test func renewsATokenThatIsNotValidForLongEnough() async throws {
        try await withToken { f in
            #expect(try await f.json(["token", "--min-valid", "60"])["fromCache"] as? Bool == true)
            #expect(try await f.json(["token", "--min-valid", "86400"])["fromCache"] as? Bool == false)
            try await f.ssoctl(["token", "--min-valid", "-1"], status: 64)
            try await f.ssoctl(["token", "--min-valid", "86401"], status: 64)
        }
    }

    @Test func listsAccountsInATable() async throws {
        try await withToken { f in
            let table = try await f.ssoctl(["accounts"]).output
            for word in ["NAME", "TENANT", "STATE", "VALID UNTIL", "alice@contoso.com", "graph", "signed in"] {
                #expect(table.contains(word), "\(table)")
            }
            for alias in ["list", "whoami"] { #expect(try await f.ssoctl([alias]).output == table) }
            let listed = try #require(await f.json(["accounts"])["accounts"] as? [[String: Any]])
            #expect(listed.count == 1 && listed[0]["apps"] as? [String] == ["graph"])
            #expect(listed[0]["state"] as? String == "signedIn")
            #expect(try #require(listed[0]["validUntil"] as? Double) > Date().timeIntervalSince1970)
            let all = try await f.json(["accounts", "--verbose"])
            let kinds = (all["credentials"] as? [[String: Any]] ?? []).compactMap { $0["kind"] as? String }
            #expect(kinds.sorted() == ["accessToken", "refreshToken"])
            let token = try await f.ssoctl(["token"]).output.split(separator: "\n")[0]
            #expect(try await !f.ssoctl(["accounts", "-v"]).output.contains(token))
            #expect(try await f.ssoctl(["accounts", "--app", "graph"]).output.contains("alice"))
            #expect(try await f.ssoctl(["accounts", "--client-id", "app-2"]).output.contains("No accounts"))
        }
    }

    /// An agent that does not find the key begins an empty store.
    @Test func saysWhyNobodyIsSignedInIfTheKeyIsMissing() async throws {
        try await AgentProcessFixture.with { f in
            let first = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            try await first.process.killHard()
            try FileManager.default.removeItem(atPath: f.folder.file("state/cache.key"))
            let second = try await f.agent()
            let printed = try await f.ssoctl(["accounts"]).output
            #expect(printed.contains("cache.key") && printed.contains("ssoctl doctor"), "\(printed)")
            withExtendedLifetime(second) {}
        }
    }

    /// A monitor must not take a locked store for an empty one.
    @Test func doesNotCountTheAccountsOfALockedStore() async throws {
        try await withToken { f in
            try await f.ssoctl(["lock"])
            let locked = try await f.json(["status"])
            #expect(locked["accounts"] == nil && locked["storeProblem"] != nil, "\(locked)")
            #expect(locked["nextCommand"] as? String == "ssoctl unlock", "\(locked)")
            #expect(try await !f.ssoctl(["status"]).output.contains("0 accounts"))
            try await f.ssoctl(["unlock"])
            #expect(try await f.json(["status"])["accounts"] as? Int == 1)
        }
    }

    @Test func signsOutOfOneAppOrOfAll() async throws {
        try await withToken { f in
            try await f.addApp("mail", clientID: "app-2")
            let none = try await f.ssoctl(["sign-out", "alice", "--app", "mail"]).output
            #expect(none == "alice@contoso.com has no tokens of the app “mail”: there was nothing to sign out of.\n")
            try await f.signIn(app: "mail", "alice@contoso.com")
            let one = try await f.json(["logout", "alice", "--app", "mail"])
            #expect(one["removed"] as? Bool == true && one["apps"] as? [String] == ["mail"])
            try await f.ssoctl(["token", "mail"], status: 2)
            try await f.ssoctl(["token", "graph"])
            let all = try await f.json(["sign-out", "alice"])
            #expect(all["apps"] as? [String] == ["graph"] && all["refreshTokens"] as? Int == 1)
            #expect(try await f.ssoctl(["accounts"]).output.contains("No accounts"))
            try await f.ssoctl(["sign-out", "alice"], status: 3)
        }
    }

    /// An older ADAL has left the work account without an identifier. It has no tokens of the app, and the personal account of its name has.
    @Test(arguments: [["alice@contoso.com"], ["alice"], ["--username", "alice@contoso.com"]])
    func signsThePersonalAccountOutOfAnAppThatOnlyThatHas(name: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let (host, tenant) = ("login.microsoftonline.com", "9188040d-6c67-4c5b-b112-36a304b66dad")
            let work: [String: Any] = [
                "userId": "alice@contoso.com", "_authority": "https://\(host)/common", "_clientId": "app-1",
                "refreshToken": "rt-1", "isMRRT": true,
            ]
            let personal = ["home_account_id": "alice.\(tenant)", "environment": host]
            let profile = ["realm": tenant, "username": "alice@contoso.com", "authority_type": "MSSTS"]
            let token = ["client_id": "app-2", "credential_type": "RefreshToken", "secret": "rt-2"]
            let sections = ["Account": profile, "RefreshToken": token].mapValues {
                ["x": personal.merging($0) { first, _ in first }]
            }
            for (file, cache) in [("work.json", [work] as Any), ("personal.json", sections as Any)] {
                let path = f.folder.file(file)
                try JSONSerialization.data(withJSONObject: cache).write(to: URL(filePath: path))
                try await f.ssoctl(["import", path])
            }
            let other = try await f.json(["sign-out", "--client-id", "app-2"] + name)
            #expect((other["account"] as? [String: String])?["identifier"] == "alice.\(tenant)", "\(other)")
            #expect(other["refreshTokens"] as? Int == 1, "\(other)")
            let own = try await f.json(["sign-out", "--client-id", "app-1"] + name)
            #expect(own["apps"] as? [String] == ["app-1"], "\(own)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The agent would look for an account with this very name.
    @Test func signsNobodyOutByTheBeginningOfSeveralNames() async throws {
        try await withToken { f in
            try await f.signIn(app: "graph", "alicia@contoso.com")
            let errors = try await f.ssoctl(["sign-out", "--username", "ali"], status: 2).errors
            #expect(errors.contains("alicia@contoso.com"), "\(errors)")
        }
    }

    /// A script reads `.account.username`, whichever command has printed the object.
    @Test func printsAnAccountAsAnObjectInEveryCommand() async throws {
        try await withToken { f in
            let token = try #require(await f.json(["token"])["account"] as? [String: String])
            let names = token.filter { ["environment", "identifier", "username"].contains($0.key) }
            #expect(names.count == 3, "\(token)")
            let chosen = try await f.json(["use", "alice"])
            #expect(chosen["account"] as? [String: String] == names, "\(chosen)")
            #expect(try await f.ssoctl(["use", "alice"]).output == "The default account is alice@contoso.com.\n")
            let listed = try await f.json(["accounts", "--verbose"])["credentials"] as? [[String: Any]] ?? []
            #expect(listed.count == 2)
            for credential in listed {
                let account = credential["account"] as? [String: String]
                #expect(account?["identifier"] == names["identifier"], "\(credential)")
            }
            let ended = try await f.json(["sign-out", "alice"])
            #expect(ended["account"] as? [String: String] == names, "\(ended)")
        }
    }

    /// One of them may have no tokens of the app, and be the first one.
    @Test func countsTheTokensOfEachAccountWithTheNameThatIsSignedOut() async throws {
        try await withToken { f in
            let authority = ["--authority", "\(f.emulator.url)/openid/main", "--authority-kind", "openid"]
            let other = ["--client-id", "app-2", "--scope", "openid"] + authority
            try await f.ssoctl(["sign-in", "--login-hint", "alice@contoso.com"] + other)
            let wanted = ["sign-out", "--username", "alice@contoso.com"]
            let ended = try await f.ssoctl(wanted + ["--client-id", "app-2"]).output
            #expect(ended == "Signed out alice@contoso.com of app-2: removed 1 refresh token and 1 access token.\n")
            try await f.ssoctl(["sign-in", "--login-hint", "alice@contoso.com"] + other)
            let all = try await f.json(wanted)
            #expect(all["account"] as? [String: String] == ["username": "alice@contoso.com"], "\(all)")
            #expect(all["refreshTokens"] as? Int == 2 && all["accessTokens"] as? Int == 2, "\(all)")
        }
    }

    @Test func opensTheProvidersPageThatEndsTheSession() async throws {
        try await withToken { f in
            let file = f.folder.file("page")
            let lines = "printf %s \"$1\" >'\(file).part' && mv '\(file).part' '\(file)'"
            let browser = "\(try await f.folder.makeProgram("browser", lines)) %s"
            let ended = try await f.ssoctl(["sign-out", "alice", "--browser"], variables: ["BROWSER": browser])
            #expect(ended.errors.contains("\(f.emulator.url)/"), "\(ended.errors)")
            #expect(ended.errors.contains("/oauth2/v2.0/logout"), "\(ended.errors)")
        }
    }

    @Test func signsOutAlsoIfThePageCannotBeOpened() async throws {
        try await withToken { f in
            let ended = try await f.ssoctl(["sign-out", "alice", "--browser"], variables: ["BROWSER": ""])
            #expect(ended.output.contains("Signed out alice@contoso.com"), "\(ended.output)")
            #expect(ended.errors.contains("/oauth2/v2.0/logout"), "\(ended.errors)")
            #expect(ended.errors.contains("no browser could be started (there is no display"), "\(ended.errors)")
        }
    }

    /// Colours are for terminals, and for people who want them.
    @Test func printsColoursOnATerminalOnly() async throws {
        try await withToken { f in
            let shown = try await f.onTerminal(["accounts"]).finish().output
            #expect(shown.contains("\u{1B}[1m"), "\(shown)")
            for variables in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
                let plain = try await f.onTerminal(["accounts"], variables: variables).finish().output
                #expect(!plain.contains("\u{1B}") && plain.contains("alice"), "\(plain)")
            }
            #expect(try await !f.ssoctl(["accounts"]).output.contains("\u{1B}"))
        }
    }

    @Test func groupsTheCommandsInItsHelp() async throws {
        let help = try await TestProcess("ssoctl", ["--help"]).finish().output
        for word in ["SIGN-IN AND TOKENS", "ssoctl init", "NO_COLOR"] { #expect(help.contains(word), "\(help)") }
        let token = try await TestProcess("ssoctl", ["token", "--help"]).finish().output
        for word in ["Examples:", "ACCOUNT:", "--min-valid <seconds>"] {
            #expect(token.contains(word), "\(token)")
        }
    }
}
