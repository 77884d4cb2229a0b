internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

/// The messages of the log and the command line about a redirect URI that cannot be used.
@Suite(.bounded) struct RedirectLogTests {
    private static let own = "msauth.com.contoso.notes://auth"

    @Test func logsThatAnAppsRedirectURIWasReplaced() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            var parameters = try f.parameters()
            parameters.redirectURI = Self.own
            let begun = try await AgentClient(socketPath: f.socketPath).beginInteractive(
                BeginInteractive(parameters: parameters))
            agent.process.signal(SIGTERM)
            let printed = try await agent.process.finish().errors
            for part in [
                "redirect URI cannot be used here", Self.own, begun.redirectURI, "app-1", "register http://localhost",
            ] {
                #expect(printed.contains(part), "\(printed)")
            }
        }
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func logsThatAnotherUserHasConnected() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let client = AgentClient(socketPath: f.socketPath)
            let begun = try await client.beginInteractive(BeginInteractive(parameters: f.parameters()))
            let port = try #require(URL(string: begun.redirectURI)?.port)
            for _ in 0..<3 {
                #expect(try await OtherUser.get("/?code=c&state=s", at: "127.0.0.1", port: port).isEmpty)
            }
            agent.process.signal(SIGTERM)
            let printed = try await agent.process.finish().errors
            let lines = printed.split(separator: "\n").filter { $0.contains("another user") }
            #expect(lines.count == 1, "\(printed)")
            #expect(lines.first?.contains("\(OtherUser.id)") == true)
            #expect(lines.first?.contains("app-1") == true)
            withExtendedLifetime(client) {}
        }
    }

    @Test func reportsAReplacedRedirectURIOnTheCommandLine() async throws {
        try await AgentProcessFixture.with { f in
            let agent = try await f.agent()
            let ended = try await f.run(
                "ssoctl",
                [
                    "sign-in", "--client-id", "app-1", "--authority", "\(f.emulator.url)/common", "--scope",
                    "User.Read",
                    "--redirect-uri", Self.own, "--login-hint", "alice@contoso.com",
                ])
            #expect(ended.status == 0)
            #expect(ended.errors.contains(Self.own))
            #expect(ended.errors.contains("register http://localhost as a redirect URI"))
            withExtendedLifetime(agent) {}
        }
    }
}
