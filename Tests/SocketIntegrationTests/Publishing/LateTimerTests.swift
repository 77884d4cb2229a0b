internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Published sockets whose time has passed before their timers: those of a machine that was suspended are late.
@Suite(.bounded) struct LateTimerTests {
    @Test func servesNothingAfterItsTimeAlsoIfTheTimerIsLate() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published(lifetime: 600) { client in
                let peer = try RawPeer(client.socketPath)
                #expect(try await peer.ask(GetStatus()) != nil)
                f.clock.advance(by: 600)
                #expect(try await peer.ask(GetStatus()) == nil)
                #expect(try await f.agent.listSockets().isEmpty)
            }
        }
    }

    /// The clock was an hour ahead, and the machine sleeps after it was set. By the clock, the time of the socket is not over.
    @Test func servesNothingAfterItsTimeAlsoIfTheClockWasSetBack() async throws {
        try await AgentFixture.with { f in
            try await f.published(lifetime: 600) { client in
                let peer = try RawPeer(client.socketPath)
                #expect(try await peer.ask(GetStatus()) != nil)
                f.clock.adjust(by: -3600)
                #expect(try await f.agent.listSockets().map(\.expiresOn) == [f.clock.now + 600])
                f.clock.advance(by: 599)
                #expect(try await peer.ask(GetStatus()) != nil)
                f.clock.advance(by: 1)
                #expect(try await peer.ask(GetStatus()) == nil)
                #expect(try await f.agent.listSockets().isEmpty)
            }
        }
    }

    /// Nothing tells a clock that is set forward from a virtual machine that was paused.
    @Test func servesNothingAfterItsTimeByTheClock() async throws {
        try await AgentFixture.with { f in
            try await f.published(lifetime: 600) { client in
                let peer = try RawPeer(client.socketPath)
                #expect(try await peer.ask(GetStatus()) != nil)
                f.clock.adjust(by: 600)
                #expect(try await peer.ask(GetStatus()) == nil)
            }
        }
    }

    /// Nobody has connected to the socket since its time was over.
    @Test func listsNoSocketAfterItsTime() async throws {
        try await AgentFixture.with { f in
            try await f.published(lifetime: 600) { _ in
                f.clock.advance(by: 600)
                let status = try await f.agent.status()
                #expect(status.publishedSockets == [])
            }
            try await f.published(lifetime: 600) { _ in
                f.clock.advance(by: 600)
                let sockets = try await f.agent.listSockets()
                #expect(sockets.isEmpty)
            }
        }
    }

    /// A diagnosis closes no socket, and does not describe one that is over either.
    @Test func findsNoSocketAfterItsTime() async throws {
        try await AgentFixture.with { f in
            try await f.published(lifetime: 600) { client in
                let request = Diagnose(authority: try f.parameters().authority)
                for detail in [client.socketPath, "none"] {
                    let checks = try await f.agent.diagnose(request).checks
                    let found = try #require(checks.first { $0.name == "published sockets" })
                    #expect(found.detail.hasPrefix(detail))
                    f.clock.advance(by: 600)
                }
            }
        }
    }

    @Test func publishesASuccessorWithThePathAndTheLabelAfterTheTimeOfTheSocket() async throws {
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            try await f.published(lifetime: 600, label: "build") { _ in
                f.clock.advance(by: 600)
                try await f.published(lifetime: 600, label: "build") { client in
                    let token = try await f.token(client, f.parameters())
                    #expect(token.isFromCache)
                }
            }
        }
    }
}
