internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// What another user of the machine can do about a sign-in.
@Suite(.bounded) struct OtherUserTests {
    /// The attack of a login CSRF: mallory signs in with the parameters of alice's sign-in, and sends the response.
    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func takesNoResponseFromAnotherUser() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(
                BeginInteractive(parameters: f.parameters(), loginHint: "alice@contoso.com"))
            let port = try #require(URL(string: begun.redirectURI)?.port)
            let crowd = try OtherUser.connections(32, to: "127.0.0.1", port: port)
            try await crowd.waitForOutput("connected")

            let own = begun.authorizationURL.replacing("alice%40", with: "mallory%40")
            let answer = try await WebClient.send(own)
            let response = try #require(answer.headers["location"].flatMap { URL(string: $0) })
            #expect(response.port == port)
            let target = "/?\(response.query() ?? "")"
            for address in LoopbackAddress.all {
                #expect(try await OtherUser.get(target, at: address, port: port).isEmpty)
            }

            try await f.browse(to: try #require(begun.launchURL))
            let result = try await f.agent.completeInteractive(CompleteInteractive(sessionID: begun.sessionID))
            #expect(result.account.username == "alice@contoso.com")
            try await crowd.killHard()
        }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func showsTheSignInPageToNoOtherUser() async throws {
        try await AgentFixture.with { f in
            let begun = try await f.agent.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let launch = try #require(begun.launchURL.flatMap { URL(string: $0) })
            #expect(launch.host() == "127.0.0.1")
            let answer = try await OtherUser.get(launch.path, at: "127.0.0.1", port: try #require(launch.port))
            #expect(answer.isEmpty)
        }
    }

    /// Any user can read the arguments of a process.
    @Test func startsTheBrowserWithoutTheParametersOfTheSignIn() async throws {
        try await AgentFixture.with { f in
            let folder = try TemporaryFolder()
            let (script, arguments) = (folder.file("browser"), folder.file("arguments"))
            try """
            tr '\\0' ' ' < /proc/$$/cmdline > \(arguments)
            exec curl -sSL -o /dev/null "$1"
            """.write(toFile: script, atomically: true, encoding: .utf8)
            let result = try await f.agent.signIn(
                BeginInteractive(parameters: f.parameters(), loginHint: "alice@contoso.com"),
                presenter: SignInPresenter(method: .browser, browserCommands: ["/bin/sh \(script)"]))
            #expect(result.account.username == "alice@contoso.com")
            let seen = try String(contentsOfFile: arguments, encoding: .utf8)
            #expect(seen.contains("http://127.0.0.1:"), "\(seen)")
            for secret in ["state", "nonce", "challenge", "alice", "authorize"] {
                #expect(!seen.contains(secret), "\(seen)")
            }
        }
    }
}
