internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Apps of the configuration, the defaults, and what follows from the cache if it is not given.
@Suite(.bounded) struct AppNameTests {
    @Test func signsInGetsATokenAndSignsOutByNamesAlone() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1", scopes: "User.Read, Mail.Read")
            let signedIn = try await f.ssoctl(["sign-in", "--login-hint", "alice@contoso.com"])
            #expect(signedIn.output.contains("Signed in as alice@contoso.com"))
            let token = try await f.ssoctl(["token"])
            #expect(token.output.split(separator: "\n").count == 1 && token.errors.isEmpty)
            for arguments in [
                ["token", "graph"], ["token", "--app", "graph"], ["token", "--username", "alice"],
                ["token", "graph", "--account", "ALI"], ["token", "-s", "mail.read user.read"],
            ] {
                #expect(try await f.ssoctl(arguments).output == token.output, "\(arguments)")
            }
            let signedOut = try await f.ssoctl(["sign-out", "alice"])
            #expect(signedOut.output.contains("Signed out alice@contoso.com of graph"), "\(signedOut.output)")
            #expect(signedOut.output.contains("1 refresh token and 1 access token"), "\(signedOut.output)")
            let refused = try await f.ssoctl(["token"], status: 2)
            #expect(refused.errors.contains("nobody is signed in to the app “graph”"), "\(refused.errors)")
            #expect(refused.errors.contains("→ ssoctl sign-in"), "\(refused.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    /// An older ADAL has saved a guest under the name of an account that another app has signed in to, and that is listed alone.
    @Test(arguments: ["--username", "--account"])
    func findsATokenByANameThatIsNotListed(option: String) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let authority = "\(f.emulator.url)/fabrikam.com"
            try await f.importGuestToken("guest-token", of: "alice@contoso.com", at: authority)
            let token = ["token", "--client-id", "app-2", "--resource", "https://api", "--authority", authority]
            #expect(try await f.ssoctl(token + [option, "alice@contoso.com"]).output == "guest-token\n")
            withExtendedLifetime(agent) {}
        }
    }

    /// A request that takes the username for an identifier would count as one that needs a sign-in.
    @Test func asksForATokenOfAUsernameOnce() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            try await f.ssoctl(["token", "--account", "alice@contoso.com"])
            let metrics = try await f.json(["status", "--verbose"])["metrics"] as? [[String: Any]] ?? []
            let counted = metrics.filter { $0["name"] as? String == "sso_agent_requests_total" }
            let requests = counted.compactMap { $0["labels"] as? [String: String] }
            #expect(requests.filter { $0["request"] == "acquire_token_silent" }.map { $0["outcome"] } == ["hit"])
            #expect(!requests.contains { $0["request"] == "list_accounts" }, "\(requests)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func findsTheAccountOfAPolicy() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let policies = ["b2c_1_in", "b2c_1_edit"].map { "\(f.emulator.url)/tfp/contoso.onmicrosoft.com/\($0)" }
            let app = ["--client-id", "app-1", "--scope", "app-1", "--authority"]
            for policy in policies {
                try await f.ssoctl(["sign-in"] + app + [policy, "--login-hint", "alice@contoso.com"])
            }
            for policy in policies {
                let account = try await f.json(["token"] + app + [policy])["account"] as? [String: Any]
                let name = try #require(policy.split(separator: "/").last)
                let isOfPolicy = (account?["identifier"] as? String)?.contains("-\(name).") == true
                #expect(isOfPolicy, "\(String(describing: account))")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func findsTheAccountOfAProviderAmongThoseOfOneName() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let (name, app) = ("eve@contoso.com", ["--client-id", "app-1", "--scope", "read"])
            let providers = ["one", "other"].map {
                ["--authority", "\(f.emulator.url)/openid/\($0)", "--authority-kind", "openid"]
            }
            var identifiers: [String] = []
            for provider in providers {
                let account = try await f.json(["sign-in", "--login-hint", name] + app + provider)["account"]
                identifiers.append(try #require((account as? [String: Any])?["identifier"] as? String))
            }
            #expect(Set(identifiers).count == 2)
            for (provider, identifier) in zip(providers, identifiers) {
                for named in [[], ["--account", name], ["--username", name]] {
                    let account = try await f.json(["token"] + app + provider + named)["account"] as? [String: Any]
                    #expect(account?["identifier"] as? String == identifier, "\(named)")
                }
            }
            let byDefault = try await f.json(["token"] + app + providers[1], variables: ["SSO_AGENT_ACCOUNT": name])
            #expect((byDefault["account"] as? [String: Any])?["identifier"] as? String == identifiers[1])
            try await f.ssoctl(["token"] + app + ["--account", name], status: 2)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func findsTheAccountOfTheAuthorityAmongThoseOfAnotherProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let other = try await Emulator.start(EmulatorOptions())
            try await withCleanup {
                try await f.addApp("graph", clientID: "app-1")
                let elsewhere = ["--authority", "\(other.url)/common"]
                try await f.signIn(app: "graph", "alice@contoso.com")
                try await f.ssoctl(["sign-in", "graph", "--login-hint", "alina@fabrikam.com"] + elsewhere)
                for named in [[], ["--account", "al"]] {
                    for (place, name) in [([], "alice@contoso.com"), (elsewhere, "alina@fabrikam.com")] {
                        let token = try await f.json(["token", "graph"] + place + named)
                        let account = token["account"] as? [String: Any]
                        #expect(account?["username"] as? String == name, "\(named)")
                    }
                }
                // No authority is named.
                let app = ["token", "--client-id", "app-1", "--scope", "User.Read"]
                try await f.ssoctl(app, status: 2)
                // Only those of the authority are listed.
                try await f.signIn(app: "graph", "alicia@contoso.com")
                let error = try await f.failure(["token", "graph", "--account", "al"], status: 2)
                let names = (error["accounts"] as? [[String: Any]] ?? []).compactMap { $0["username"] as? String }
                #expect(names.sorted() == ["alice@contoso.com", "alicia@contoso.com"])
            } cleanUp: {
                await other.stop()
            }
            withExtendedLifetime(agent) {}
        }
    }

    /// The emulator's authorities are not the default one, so that the token is found by the account's own.
    @Test func takesTheAuthorityOfTheAccountIfNoneIsGiven() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let target = ["token", "--client-id", "app-1", "--scope", "User.Read"]
            let token = try await f.ssoctl(target)
            #expect(try await f.ssoctl(target + ["--username", "alice"]).output == token.output)
            #expect(try await f.json(target + ["--force-refresh"])["fromCache"] as? Bool == false)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func listsSeveralAccountsAndTakesTheDefault() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            for name in ["alice@contoso.com", "alicia@contoso.com"] { try await f.signIn(app: "graph", name) }
            for arguments in [["token"], ["token", "--account", "ali"]] {
                let error = try await f.failure(arguments, status: 2)
                #expect(error["name"] as? String == "ambiguousAccount")
                let names = (error["accounts"] as? [[String: Any]] ?? []).compactMap { $0["username"] as? String }
                #expect(names.sorted() == ["alice@contoso.com", "alicia@contoso.com"])
                #expect(try await f.ssoctl(arguments, status: 2).errors.contains("alicia@contoso.com"))
            }
            #expect(try await f.ssoctl(["sign-out", "ali"], status: 2).errors.contains("alicia"))
            func owner(_ variables: [String: String] = [:], _ more: String...) async throws -> String? {
                let token = try await f.json(["token"] + more, variables: variables)
                return (token["account"] as? [String: Any])?["username"] as? String
            }
            #expect(try await owner([:], "--username", "alici") == "alicia@contoso.com")
            #expect(try await owner(["SSO_AGENT_ACCOUNT": "alicia"]) == "alicia@contoso.com")
            // Another account could have the same username.
            let alicia = try #require(try await f.json(["token", "--username", "alici"])["account"] as? [String: Any])
            let identifier = try #require(alicia["identifier"] as? String)
            try await f.ssoctl(["use", identifier])
            let configuration = try #require(f.environment["SSO_AGENT_CONFIG"])
            #expect(try String(contentsOfFile: configuration, encoding: .utf8).contains("account = \"\(identifier)\""))
            #expect(try await owner() == "alicia@contoso.com")
            #expect(try await f.ssoctl(["use", "alice"]).output.contains("alice@contoso.com"))
            #expect(try await owner() == "alice@contoso.com")
            #expect(try await owner(["SSO_AGENT_ACCOUNT": "alicia"]) == "alicia@contoso.com")
            #expect(try await f.ssoctl(["accounts"]).output.contains("\n*  alice@contoso.com"))
            #expect(try await f.ssoctl(["use", "--none"]).output.contains("Removed the defaults from "))
            let nothing = "There were no defaults in \(f.folder.file("config.toml")).\n"
            #expect(try await f.ssoctl(["use", "--none"]).output == nothing)
            try await f.ssoctl(["token"], status: 2)
            withExtendedLifetime(agent) {}
        }
    }

    /// A user who was removed and added again has another identifier.
    @Test func listsTheAccountsThatHaveOneUsername() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            let account = try #require(try await f.json(["token"])["account"] as? [String: Any])
            let tenant = try #require((account["identifier"] as? String)?.split(separator: ".").last)
            let added = "11111111-1111-4111-8111-111111111111"
            let information = Data(#"{"uid":"\#(added)","utid":"\#(tenant)"}"#.utf8).base64EncodedString()
            f.emulator.control.settings.tokenReply = ["client_info": .string(information.replacing("=", with: ""))]
            f.emulator.control.settings.idTokenClaims = ["oid": .string(added)]
            try await f.signIn(app: "graph", "alice@contoso.com")
            for option in ["--account", "--username"] {
                let error = try await f.failure(["token", option, "alice@contoso.com"], status: 2)
                let accounts = error["accounts"] as? [[String: Any]] ?? []
                let identifiers = accounts.compactMap { $0["identifier"] as? String }
                #expect(identifiers.count == 2 && identifiers.contains("\(added).\(tenant)"), "\(error)")
                let next = "ssoctl token --account \(identifiers.first ?? "?")"
                #expect(error["nextCommand"] as? String == next, "\(error)")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func leadsToTheOptionForAnAccountThatStandsInThePlaceOfAnApp() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.signIn(app: "graph", "alice@contoso.com")
            for (arguments, next) in [
                (["token", "ali"], "ssoctl token --account alice@contoso.com"),
                (["token", "ali", "--force-refresh"], "ssoctl token --account alice@contoso.com --force-refresh"),
                (["token", "bob@contoso.com"], "ssoctl token --account bob@contoso.com"),
                (["sign-in", "ali"], "ssoctl sign-in --login-hint alice@contoso.com"),
                (["token", "somebody"], "ssoctl app add somebody --client-id CLIENT-ID"),
            ] {
                let error = try await f.failure(arguments, status: 64)
                #expect(error["nextCommand"] as? String == next, "\(arguments)")
            }
            for (arguments, meant) in [
                (["token", "graph", "alice"], "ssoctl token graph --account alice"),
                (["sign-in", "graph", "alice"], "ssoctl sign-in graph --login-hint alice"),
            ] {
                let message = try await f.failure(arguments, status: 64)["message"] as? String
                #expect(message?.hasSuffix("The account is an option: \(meant)") == true, "\(message ?? "")")
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func marksTheDefaultAccountAlsoIfAnotherNameBeginsWithIt() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            for name in ["alice@contoso.com", "alice@contoso.com.example"] { try await f.signIn(app: "graph", name) }
            try await f.ssoctl(["use", "alice@contoso.com"])
            let list = try await f.ssoctl(["accounts"]).output
            #expect(list.contains("\n*  alice@contoso.com  "), "\(list)")
            withExtendedLifetime(agent) {}
        }
    }

    /// The exact name of an account without a token does not mean another person whose name begins so.
    @Test func returnsNoTokenOfAnAccountWhoseNameOnlyBeginsAsTheExactOne() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            try await f.signIn(app: "mail", "bob@contoso.com")
            try await f.signIn(app: "graph", "bob@contoso.com.example")
            let named = ["token", "graph", "--account", "bob@contoso.com"]
            #expect(try await f.ssoctl(named, status: 2).output.isEmpty)
            try await f.ssoctl(["token", "graph"], status: 2, variables: ["SSO_AGENT_ACCOUNT": "bob@contoso.com"])
            // The beginning of one name only.
            #expect(try await !f.ssoctl(["token", "graph", "--account", "bob@contoso.com.e"]).output.isEmpty)
            withExtendedLifetime(agent) {}
        }
    }

    /// An app may be configured twice, for different scopes.
    @Test func namesTheAppThatWasNamedOfTwoWithOneClientID() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            for name in ["first", "second"] { try await f.addApp(name, clientID: "app-1") }
            try await f.signIn(app: "second", "alice@contoso.com")
            let out = try await f.ssoctl(["sign-out", "alice", "--app", "second"]).output
            #expect(out.contains("of second:"), "\(out)")
            withExtendedLifetime(agent) {}
        }
    }

    /// An agent that does not allow http asks a provider on this machine with https.
    @Test func takesTheSchemeThatTheAgentAdmits() async throws {
        try await AgentProcessFixture.with(usesTLS: true) { f in
            let agent = try TestProcess("sso-agent", [], environment: f.environment)
            try await withCleanup {
                try await agent.waitForError("listening on \(f.socketPath)")
                let target = ["--client-id", "app-1", "--scope", "User.Read"]
                try await f.ssoctl(
                    ["sign-in", "--authority", "\(f.url)/common", "--login-hint", "alice@contoso.com"] + target)
                try await f.ssoctl(["token", "--force-refresh"] + target)
                let out = try await f.ssoctl(["sign-out", "alice", "--browser"]).errors
                #expect(out.contains("open: https://"), "\(out)")
            } cleanUp: {
                agent.signal(SIGKILL)
            }
        }
    }

    @Test func choosesTheDefaultApp() async throws {
        try await AgentProcessFixture.with { f in
            let none = try await f.failure(["token"], status: 64)
            #expect(none["nextCommand"] as? String == "ssoctl init")
            try await f.addApp("graph", clientID: "app-1")
            try await f.addApp("mail", clientID: "app-2")
            #expect(try await f.json(["app", "show"])["name"] as? String == "graph")
            try await f.ssoctl(["use", "--none"])
            let several = try await f.failure(["app", "show"], status: 64)
            #expect(several["nextCommand"] as? String == "ssoctl app show graph")
            try await f.ssoctl(["use", "mail"])
            #expect(try await f.json(["app", "show"])["clientId"] as? String == "app-2")
            let variables = ["SSO_AGENT_APP": "graph"]
            #expect(try await f.json(["app", "show"], variables: variables)["clientId"] as? String == "app-1")
            let unknown = try await f.failure(["app", "show", "grahp"], status: 64)
            #expect((unknown["message"] as? String)?.contains("did you mean “graph”?") == true)
            try await f.ssoctl(["app", "remove", "mail"])
            #expect(try f.configuration().contains("app = ") == false)
            #expect(try await f.json(["app", "show"])["name"] as? String == "graph")
            // The only app has been meant so far, without a default.
            let added = try await f.ssoctl([
                "app", "add", "notes", "--client-id", "app-3", "--authority", f.url + "/common",
            ])
            #expect(added.output.contains("The default app is still graph"), "\(added.output)")
            #expect(try await f.json(["app", "show"])["name"] as? String == "graph")
        }
    }

    @Test func replacesAnAppOnlyIfItIsToldTo() async throws {
        try await AgentProcessFixture.with { f in
            try await f.addApp("graph", clientID: "app-1")
            let before = try f.configuration()
            let add = ["app", "add", "graph", "--client-id", "app-2", "--authority", "\(f.emulator.url)/common"]
            let refused = try await f.failure(add, status: 1)
            #expect(refused["nextCommand"] as? String == "ssoctl app show graph", "\(refused)")
            #expect(try f.configuration() == before)
            #expect(try await f.json(add + ["--force"])["clientId"] as? String == "app-2")
        }
    }

    @Test func readsTheSystemsAppsAndChangesTheUsersFileOnly() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let system = f.folder.file("system/conf.d")
            try FileManager.default.createDirectory(atPath: system, withIntermediateDirectories: true)
            func write(_ name: String, _ text: String) throws {
                try text.write(toFile: f.folder.file("system/\(name)"), atomically: false, encoding: .utf8)
            }
            try write("config.toml", "[apps.a]\nclient_id = \"a-1\"\n[apps.b]\nclient_id = \"b-1\"\n")
            try write("conf.d/20.toml", "[apps.a]\nclient_id = \"a-3\"\n")
            try write("conf.d/10.toml", "[apps.a]\nclient_id = \"a-2\"\n")
            try f.configure("# mine\n[apps.b]\nclient_id = \"b-2\" # and why\n")
            let apps = try #require(await f.json(["app", "list"])["apps"] as? [[String: Any]])
            #expect(apps.compactMap { $0["clientId"] as? String } == ["a-3", "b-2"])
            let refused = try await f.ssoctl(["app", "remove", "a"], status: 1)
            #expect(refused.errors.contains("conf.d/20.toml"))
            try await f.ssoctl([
                "app", "add", "b", "--client-id", "11111111-2222-4333-8444-555555555555", "--force", "--scope", "S",
            ])
            #expect(
                try f.configuration()
                    == "# mine\n[apps.b]\nclient_id = \"11111111-2222-4333-8444-555555555555\"  # and why\nscopes = [\"S\"]\n"
            )
            let checked = try await f.run("sso-agent", ["--check-config"])
            #expect(checked.status == 0 && checked.output.contains("conf.d/10.toml"))
            try write("conf.d/30.toml", "[apps.c]\nclient_di = \"c\"\n")
            for program in ["ssoctl", "sso-agent"] {
                let wrong = try await f.run(program, program == "ssoctl" ? ["app"] : ["--check-config"])
                #expect(wrong.status == 1)
                #expect(wrong.errors.contains("conf.d/30.toml:2: “client_di”"))
                #expect(wrong.errors.contains("use client_id"))
            }
            withExtendedLifetime(agent) {}
        }
    }

    @Test func reportsADefaultAppThatDoesNotExist() async throws {
        try await AgentProcessFixture.with { f in
            try f.configure("[defaults]\napp = \"graph\"\n")
            let checked = try await f.run("sso-agent", ["--check-config"])
            #expect(checked.status == 1 && checked.errors.contains("config.toml:2: "), "\(checked.errors)")
            let refused = try await f.failure(["token"], status: 1)
            #expect((refused["message"] as? String)?.contains("config.toml:2: the default app") == true)
            #expect(refused["nextCommand"] as? String == "ssoctl init")
            // The agent, which does not use it, starts.
            let agent = try await f.agent()
            withExtendedLifetime(agent) {}
        }
    }
}
