internal import AgentClient
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The browser process that the client starts.
@Suite(.bounded) struct BrowserTests {
    @Test(arguments: [(true, "status 5"), (false, "status 4")])
    func inheritsNoOpenFilesOfTheApp(isOpen: Bool, expected: String) async throws {
        let folder = try TemporaryFolder()
        let script = folder.file("browser")
        // Exits with 5 if the file descriptor is closed, otherwise with 4.
        try "test -e /proc/$$/fd/$1 && exit 4; exit 5".write(toFile: script, atomically: true, encoding: .utf8)
        // A file without close-on-exec, with a descriptor that shells do not use.
        let opened = try FileHandle(forReadingFrom: URL(filePath: script))
        let number = fcntl(opened.fileDescriptor, F_DUPFD, 500)
        defer { close(number) }
        // The standard output is inherited, which shows that the check works.
        let end = await end(of: "/bin/sh \(script) \(isOpen ? number : 1)")
        #expect(end.contains(expected), "\(end)")
    }

    /// Ctrl-C is for every program of the terminal's session in the foreground: it ends the sign-in, but not the user's browser.
    @Test func hasASessionOfItsOwn() async throws {
        let folder = try TemporaryFolder()
        let script = folder.file("browser")
        // Exits with 5 if the shell's session, the sixth field, is its own, otherwise with 4.
        try "read -r _ _ _ _ _ session _ </proc/$$/stat; [ \"$session\" = $$ ] && exit 5; exit 4"
            .write(toFile: script, atomically: true, encoding: .utf8)
        let end = await end(of: "/bin/sh \(script)")
        #expect(end.contains("status 5"), "\(end)")
    }

    /// Opens a page with a command that fails, and returns the message about its end.
    private func end(of command: String) async -> String {
        await withCheckedContinuation { (done: CheckedContinuation<String, Never>) in
            do {
                try Browser(commands: [command]).open("https://login.example.com") { done.resume(returning: $0) }
            } catch {
                done.resume(returning: "\(error)")
            }
        }
    }

    @Test func takesTheNextCommandIfOneCannotBeStarted() throws {
        let folder = try TemporaryFolder()
        let browser = Browser(commands: [folder.file("missing"), " ", "/bin/true"])
        #expect(try browser.open("http://localhost:1/") { _ in } == "/bin/true")
        let none = #expect(throws: TokenError.self) {
            try Browser(commands: [folder.file("missing")]).open("http://localhost:1/") { _ in }
        }
        #expect(none?.code == .authorizationFailed)
        #expect(none?.message.contains(folder.file("missing")) == true)
    }

    /// A browser may end long after the sign-in, which is not to be cancelled then.
    @Test func countsNoFailureAfterTheSignIn() {
        let wait = BrowserWait()
        wait.end()
        #expect(!wait.fail("the browser has failed"))
        #expect(wait.reason(for: TokenError(.sessionCanceled, "cancelled")) == nil)
    }

    /// Apps show nothing if the user has cancelled a sign-in; here the page was never shown.
    @Test func failsTheSignInWithItsStatus() async throws {
        try await AgentFixture.with { f in
            let presenter = SignInPresenter(method: .browser, browserCommands: ["/bin/false"])
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.signIn(BeginInteractive(parameters: f.parameters()), presenter: presenter)
            }
            #expect(error?.code == .authorizationFailed)
            #expect(error?.message.contains("“/bin/false” ended with status 1") == true)
        }
    }

    /// A browser can fail when its user has signed in.
    @Test func reportsTheErrorOfASignInWhoseBrowserFailsAfterItsResponse() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let declined = TokenError(.declinedScopes, "fewer scopes")
        let agent = try PretendedAgent.endingSignIn(at: path, with: .failure(declined))
        defer { agent.end() }
        let parameters = TokenParameters(
            clientID: try #require(ClientID("app-1")), authority: .common, scopes: ScopeSet(["User.Read"]),
            redirectURI: "http://localhost")
        let client = AgentClient(socketPath: path, appName: "test")
        let presenter = SignInPresenter(method: .browser, browserCommands: ["/bin/false"])
        let error = await #expect(throws: TokenError.self) {
            try await client.signIn(BeginInteractive(parameters: parameters), presenter: presenter)
        }
        #expect(error?.code == .declinedScopes)
    }

    /// The agent can be another user's, who must not start programs with options or files of his choice.
    @Test(
        arguments: [
            "--help", "-remote", "file:///etc/passwd", "javascript:1", "/bin/sh", "https:", "HTTPS //a", "",
            "https://a --b",
        ])
    func startsNothingForWhatIsNoWebPage(url: String) throws {
        let browser = Browser(commands: ["/bin/true"])
        let error = #expect(throws: TokenError.self) { try browser.open(url) { _ in } }
        #expect(error?.code == .authorizationFailed)
        #expect(try browser.open("http://localhost:1/") { _ in } == "/bin/true")
    }
}
