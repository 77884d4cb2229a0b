internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// Published sockets while another request is in progress.
@Suite(.bounded) struct PublishedSocketTurnTests {
    /// The second request comes while the file of the first one is being made. A command that names the label would mean either socket.
    @Test func publishesOneOfTwoSocketsWithOneLabel() async throws {
        try await AgentFixture.with(peerLimits: .withLongTurns) { f in
            let app = try #require(ClientID("app-1"))
            let frames = try (1...2).flatMap { number in
                try RequestFrame.encode(
                    PublishSocket(path: f.folder.file("\(number).sock"), clientIDs: [app], label: "build"),
                    id: UInt64(number))
            }
            let peer = try await offPool { try RawPeer.answered(f.socketPath) }
            let failures = try await offPool {
                peer.write(frames)
                return try (1...2).map { _ in try peer.reply()?.failure?.code }
            }
            #expect(failures.count { $0 == .invalidDeveloperParameter } == 1)
            #expect(try await f.agent.listSockets().map(\.label) == ["build"])
            _ = try await f.agent.unpublishSocket(UnpublishSocket(name: "build"))
        }
    }

    /// The refresh token is redeemed, and the app would not hear of it.
    @Test func answersARequestInProgressWhenTheAgentStops() async throws {
        try await AgentFixture.with { f in
            let alice = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.clock.advance(by: 4000)
            try await f.published { client in
                f.emulator.control.inject(.hold(grant: .refreshToken))
                let peer = try RawPeer(client.socketPath)
                try peer.write(AcquireTokenSilent(parameters: try f.parameters(), account: alice))
                await f.emulator.control.waitForHeld(atLeast: 1)
                async let stopped: Void = f.stop()
                // The file is removed once the agent publishes no socket any more.
                while FileManager.default.fileExists(atPath: client.socketPath) { await letOthersRun() }
                f.emulator.control.release()
                let result = try await offPool { try peer.reply()?.reply(to: AcquireTokenSilent.self) }
                #expect(result?.isFromCache == false)
                await stopped
            }
        }
    }
}
