internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// How a sign-in looks on the command line and on a terminal, and how it ends.
@Suite(.bounded) struct SignInMannerTests {
    /// A folder with a program of this name, to be put in front of `PATH`.
    private func program(_ name: String, _ body: String, _ f: AgentProcessFixture) async throws -> String {
        let folder = f.folder.file("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = try await f.folder.makeProgram("bin/\(name)", body)
        return "\(folder):\(f.environment["PATH"] ?? "")"
    }

    private static func url(in text: String) throws -> String {
        try String(#require(text.firstMatch(of: #/http://(?:127\.0\.0\.1|\[::1\]|localhost):\d+/[^\s\u{1B}]*/#)).output)
    }

    @Test func printsThePageAndTheNameOfTheBrowser() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let ended = try await f.ssoctl(["sign-in", "--login-hint", "alice@contoso.com"])
            #expect(ended.errors.contains("started: curl"), "\(ended.errors)")
            #expect(ended.errors.contains("10 minutes"), "\(ended.errors)")
            // The page of the listener, not that with the parameters of the sign-in.
            #expect(try !Self.url(in: ended.errors).contains("state="))
            withExtendedLifetime(agent) {}
        }
    }

    /// Somebody else may be signed in to the page of the provider.
    @Test func saysThatAnotherUserThanTheSuggestedOneHasSignedIn() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            f.emulator.control.settings.idTokenClaims = ["preferred_username": .string("bob@contoso.com")]
            let ended = try await f.ssoctl(["sign-in", "--login-hint", "alice@contoso.com"])
            let notice = "ssoctl: --login-hint suggested alice@contoso.com, and bob@contoso.com has signed in\n"
            #expect(ended.errors.contains(notice), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func opensNoBrowserIfThePageIsToBePrinted() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            var environment = f.environment
            environment["BROWSER"] = "touch \(f.folder.file("started"))"
            let command = try TestProcess(
                "ssoctl", ["sign-in", "--print-url", "--login-hint", "alice@contoso.com"], environment: environment)
            let shown = try await command.waitForError("minutes")
            _ = try await f.run("/usr/bin/env", ["curl", "-sSL", "-o", "/dev/null", Self.url(in: shown)])
            let ended = try await command.finish()
            #expect(ended.status == 0 && ended.output.contains("alice@contoso.com"), "\(ended.errors)")
            #expect(!FileManager.default.fileExists(atPath: f.folder.file("started")))
            withExtendedLifetime(agent) {}
        }
    }

    @Test func makesThePageALinkOnATerminalAndCountsDown() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try f.onTerminal(["sign-in", "--print-url", "--login-hint", "alice@contoso.com"])
            let shown = try await command.waitForOutput("left (Ctrl-C ends it)")
            #expect(shown.contains("\u{1B}]8;;http://"), "\(shown)")
            _ = try await f.run("/usr/bin/env", ["curl", "-sSL", "-o", "/dev/null", Self.url(in: shown)])
            let ended = try await command.finish()
            #expect(ended.status == 0, "\(ended.output)")
            #expect(ended.output.contains("\u{1B}[32mSigned in\u{1B}[0m as alice@contoso.com"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func writesNoLineAgainOnATerminalThatCannot() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try f.onTerminal(
                ["sign-in", "--print-url", "--login-hint", "alice@contoso.com"], variables: ["TERM": "dumb"])
            let shown = try await command.waitForOutput("10 minutes at most")
            _ = try await f.run("/usr/bin/env", ["curl", "-sSL", "-o", "/dev/null", Self.url(in: shown)])
            let ended = try await command.finish()
            #expect(ended.status == 0 && !ended.output.contains("left (Ctrl-C"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A browser runs for days, and whoever reads the errors of `ssoctl` from a pipe would wait for its end.
    @Test(arguments: [true, false])
    func letsTheBrowserWriteItsErrorsToATerminalOnly(isTerminal: Bool) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let browser = try await f.folder.makeProgram(
                "browser", #"readlink /proc/$$/fd/2 >"$0.errors"; exec curl -sSL -o /dev/null "$1""#)
            let (arguments, variables) = (["sign-in", "--login-hint", "alice@contoso.com"], ["BROWSER": browser])
            let command =
                isTerminal
                ? try f.onTerminal(arguments, variables: variables)
                : try TestProcess("ssoctl", arguments, environment: f.environment.merging(variables) { $1 })
            let ended = try await command.finish()
            #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
            let errors = try String(contentsOfFile: "\(browser).errors", encoding: .utf8)
            #expect(errors.hasPrefix("/dev/") && (errors == "/dev/null\n") != isTerminal, "\(errors)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func fallsBackToACodeOnATerminalIfTheBrowserFails() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let path = try await program("qrencode", "[ \"$1\" = --type=UTF8 ] && echo '█▀▀█'", f)
            let command = try f.onTerminal(["sign-in"], variables: ["BROWSER": "false", "PATH": path, "NO_COLOR": "1"])
            let shown = try await command.waitForOutput("left (Ctrl-C ends it)")
            var all = shown
            while !all.contains("enter the code") { all += try await command.waitForOutput("left (Ctrl-C ends it)") }
            #expect(all.contains("the browser “false” ended with status 1; signing in with a code instead"))
            #expect(all.contains("█▀▀█"))
            #expect(!all.contains("\u{1B}[1m"))
            #expect(f.emulator.control.approveDeviceCode(username: "carol@contoso.com") == 1)
            let ended = try await command.finish()
            #expect(ended.status == 0 && ended.output.contains("carol@contoso.com"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func doesNotFallBackIfABrowserWasAskedFor() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try f.onTerminal(["sign-in", "--browser"], variables: ["BROWSER": "false"])
            let ended = try await command.finish()
            #expect(ended.status == 1 && !ended.output.contains("enter the code"), "\(ended.output)")
            #expect(ended.output.contains("→ ssoctl sign-in --device-code"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    /// A script would wait until the code expires.
    @Test func showsNoCodeIfNobodyIsToBeAsked() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let ended = try await f.ssoctl(["sign-in", "--prompt", "none"], status: 1, variables: ["BROWSER": ""])
            #expect(ended.errors.contains("no browser could be started"), "\(ended)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func showsACodeIfThereIsNoBrowser() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try TestProcess(
                "ssoctl", ["sign-in"], environment: f.environment.merging(["BROWSER": ""]) { $1 })
            let shown = try await command.waitForError("Waiting for the sign-in")
            // The code is alone on its line.
            #expect(shown.contains(#/enter the code:\n\n    \S+\n\n/#), "\(shown)")
            #expect(f.emulator.control.approveDeviceCode(username: "carol@contoso.com") == 1)
            #expect(try await command.finish().status == 0)
            withExtendedLifetime(agent) {}
        }
    }

    @Test(arguments: [["sign-in", "--print-url"], ["sign-in", "--device-code"]])
    func endsCleanlyWithCtrlC(arguments: [String]) async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try f.onTerminal(arguments, [("left (Ctrl-C ends it)", "\u{3}")])
            let ended = try await command.finish()
            // As a shell reports a command that SIGINT has ended.
            #expect(ended.status == 130, "\(ended.output)")
            #expect(ended.output.contains("\u{1B}[K") && ended.output.contains("ssoctl: the sign-in was cancelled"))
            // The agent waits for nothing: another sign-in gets a place, many times.
            for _ in 0..<8 { try await f.signIn(app: "graph", "alice@contoso.com") }
            withExtendedLifetime(agent) {}
        }
    }

    private static let signedIn = TokenResult(
        accessToken: Secret("token"), tokenType: "Bearer", expiresOn: 4_000_000_000, scopes: ["User.Read"],
        idToken: nil,
        account: Account(
            homeAccountID: HomeAccountID("a.b"), username: "alice@contoso.com", environment: "host", source: .msal),
        tenantProfile: nil, authority: "https://host/common", correlationID: CorrelationID(), isFromCache: false)

    /// The tokens are saved, so that a command that says otherwise would be wrong.
    @Test(arguments: [false, true])
    func saysThatTheUserHasSignedInIfCtrlCComesTooLate(isOtherAccount: Bool) async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            var details = TokenError.Details()
            details.partialResult = Self.signedIn
            let other = TokenError(.mismatchedAccount, "another account signed in", details: details)
            let agent = try PretendedAgent.endingSignIn(
                at: f.socketPath, with: isOtherAccount ? .failure(other) : .success(Self.signedIn))
            defer { agent.end() }
            let app = ["--client-id", "app-1", "--scope", "User.Read", "--authority", "\(f.emulator.url)/common"]
            let command = try TestProcess("ssoctl", ["sign-in", "--print-url"] + app, environment: f.environment)
            try await command.waitForError("Waiting for the sign-in")
            command.signal(SIGINT)
            let ended = try await command.finish()
            let (status, message) = isOtherAccount ? (1, other.message) : (0, "Signed in as alice@contoso.com")
            #expect(ended.status == status, "\(ended)")
            #expect((ended.output + ended.errors).contains(message) && !ended.errors.contains("cancelled"), "\(ended)")
        }
    }

    /// The number of requests that cancel the sign-in of the next test.
    private static let cancellations = Mutex(0)

    /// The sign-in has ended with the agent, which a further request would start again.
    @Test func sendsNothingMoreForASignInThatHasEndedWithTheAgent() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let agent = try PretendedAgent(at: f.socketPath) { frame in
                if (try? frame.request(CancelInteraction.self)) != nil { Self.cancellations.withLock { $0 += 1 } }
                let stopping = TokenError(.cancelled, "the agent is stopping")
                return frame.answer(BeginInteractive.self, with: .success(.sample))
                    ?? frame.answer(CompleteInteractive.self, with: .failure(stopping))
            }
            defer { agent.end() }
            let authority = ["--authority", "\(f.emulator.url)/common"]
            let ended = try await f.ssoctl(
                ["sign-in", "--print-url", "--client-id", "app-1", "--scope", "User.Read"] + authority, status: 4)
            #expect(ended.errors.contains("the agent is stopping"), "\(ended.errors)")
            #expect(Self.cancellations.withLock { $0 } == 0)
        }
    }

    /// A browser can fail when its user has signed in, or has declined.
    @Test func reportsTheErrorOfASignInWhoseBrowserFailsAfterItsResponse() async throws {
        try await AgentProcessFixture.with { f in
            try FileManager.default.createDirectory(
                atPath: f.folder.file("run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let declined = TokenError(.accessDenied, "the user has declined")
            let agent = try PretendedAgent.endingSignIn(at: f.socketPath, with: .failure(declined))
            defer { agent.end() }
            let app = ["--client-id", "app-1", "--scope", "User.Read", "--authority", "\(f.emulator.url)/common"]
            let error = try await f.failure(["sign-in"] + app, status: 1, variables: ["BROWSER": "false"])
            #expect(error["name"] as? String == "accessDenied", "\(error)")
        }
    }

    @Test func guidesThroughTheFirstSetUp() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.signIn("alice@contoso.com", f.parameters())
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", " \n"), ("This is needed", ""), ("Client ID: ", "app-1\n"),
                    ("[organizations]: ", "localhost:8080\n"), ("nor a URL, which begins with https://", ""),
                    ("[organizations]: ", "\(f.emulator.url)\n"), ("openid) [entra]: ", "\n"),
                    ("names no tenant; add one, such as /common.", ""),
                    ("[organizations]: ", "\(f.emulator.url)/common\n"), ("openid) [entra]: ", "\n"),
                    ("[User.Read]: ", "User.Read https://vault.azure.net/.default\n"), ("[User.Read]: ", "\n"),
                    ("[graph]: ", "a b\n"), ("[graph]: ", "\n"),
                ])
            let ended = try await command.finish()
            #expect(ended.status == 0, "\(ended.output)")
            #expect(
                ended.output.contains("valid until")
                    && ended.output.contains("these are for https://graph.microsoft.com and https://vault.azure.net."),
                "\(ended.output)")
            #expect(try f.configuration().contains("[apps.graph]\nclient_id = \"app-1\"\n"))
            try await f.ssoctl(["token"])
            let without = try await f.failure(["init"], status: 64)
            #expect((without["nextCommand"] as? String)?.hasPrefix("ssoctl app add") == true)
            withExtendedLifetime(agent) {}
        }
    }

    @Test func guidesThroughTheFirstSetUpWithAnotherProvider() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", "app-1\n"), ("[organizations]: ", "\(f.emulator.url)/openid/main\n"),
                    ("openid) [entra]: ", "oidc\n"), ("The kinds are entra, b2c, adfs, ciam, openid;", ""),
                    ("[entra]: ", "openid\n"), ("[openid]: ", "\n"), ("A name for the app: ", "main\n"),
                ])
            let ended = try await command.finish()
            #expect(ended.status == 0, "\(ended.output)")
            let configuration = try f.configuration()
            #expect(configuration.contains("authority_kind = \"openid\"\nscopes = [\"openid\"]\n"), "\(configuration)")
            #expect(try await f.ssoctl(["token"]).output.isEmpty == false)
            withExtendedLifetime(agent) {}
        }
    }

    /// Without their names, another app and another account would be meant.
    @Test func namesTheAppAndTheAccountOfTheFirstTokenIfOthersAreDefaults() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("mail", clientID: "app-2")
            let variables = ["SSO_AGENT_APP": "mail", "SSO_AGENT_ACCOUNT": "bob@contoso.com"]
            f.emulator.control.addUser("alice@contoso.com")
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", "app-1\n"), ("[organizations]: ", "\(f.emulator.url)/common\n"),
                    ("[entra]: ", "\n"), ("[User.Read]: ", "\n"), ("A name for the app: ", "graph\n"),
                ], variables: variables)
            let ended = try await command.finish()
            let words = ["token", "graph", "--account", "alice@contoso.com"]
            let line = "\r\n  ssoctl \(words.joined(separator: " "))\r\n"
            #expect(ended.status == 0 && ended.output.contains(line), "\(ended.output)")
            try await f.ssoctl(words, variables: variables)
            withExtendedLifetime(agent) {}
        }
    }

    /// Microsoft's clouds know no other client IDs than GUIDs.
    @Test func asksAgainForAClientIDThatIsNoGUID() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", "not a guid!!\n"), ("[organizations]: ", "\n"),
                    ("“not a guid!!” is not an application (client) ID", ""), ("Client ID: ", "\u{4}"),
                ])
            let ended = try await command.finish()
            #expect(ended.status == 1 && ended.output.contains("Client ID: \r\nssoctl: the set-up"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }

    @Test func saysThatACodeWasDeclined() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            try await f.addApp("graph", clientID: "app-1")
            let command = try TestProcess("ssoctl", ["sign-in", "--device-code"], environment: f.environment)
            let shown = try await command.waitForError("Waiting for the sign-in")
            #expect(shown.contains("open this page in a browser on this machine:\n\n  \(f.emulator.url)/"), "\(shown)")
            let code = try #require(shown.firstMatch(of: #/enter the code:\n\n    (\S+)\n/#)?.output.1)
            _ = try await f.run(
                "/usr/bin/env", ["curl", "-sS", "\(f.emulator.url)/devicelogin?code=\(code)&decline=1"])
            let ended = try await command.finish()
            #expect(ended.status == 1 && !ended.errors.contains("authorization_declined"), "\(ended.errors)")
            #expect(ended.errors.contains("ssoctl: the sign-in was declined\n"), "\(ended.errors)")
            #expect(ended.errors.hasSuffix("\n  → ssoctl sign-in --device-code\n"), "\(ended.errors)")
            withExtendedLifetime(agent) {}
        }
    }

    /// After the sign-in Ctrl-C ends the process, and no handler is left that ignores it.
    @Test func endsTheSetUpWithCtrlCAfterTheSignIn() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            f.emulator.control.settings.accessTokenLifetime = 10
            f.emulator.control.inject(.hold(grant: .refreshToken, count: 0))
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", "app-1\n"), ("[organizations]: ", "\(f.emulator.url)/common\n"),
                    ("[entra]: ", "\n"), ("[User.Read]: ", "\n"), ("[graph]: ", "\n"), ("3. A token", "\u{3}"),
                ])
            let ended = try await command.finish()
            #expect(ended.status == 130, "\(ended.output)")
            f.emulator.control.release()
            withExtendedLifetime(agent) {}
        }
    }

    @Test func namesTheCommandThatHelpsIfTheSetUpFails() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let command = try f.onTerminal(
                ["init"],
                [
                    ("Client ID: ", "app-1\n"), ("[organizations]: ", "http://127.0.0.1:1/common\n"),
                    ("[entra]: ", "\n"), ("[User.Read]: ", "\n"), ("[graph]: ", "\n"),
                ])
            let ended = try await command.finish()
            #expect(ended.status == 1 && ended.output.contains("→ ssoctl doctor"), "\(ended.output)")
            withExtendedLifetime(agent) {}
        }
    }
}
