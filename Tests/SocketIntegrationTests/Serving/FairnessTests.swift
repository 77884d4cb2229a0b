internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// What one process can use of the agent. The connections of the test are those of one process.
@Suite(.bounded) struct FairnessTests {
    @Test func closesTheConnectionOfACrowdedProcessThatIsIdleLongest() async throws {
        try await AgentFixture.with(peerLimits: .connections(4)) { f in
            let other = try await OtherProcess.connected(to: f.socketPath)
            let peers = try await offPool { try (0..<5).map { _ in try RawPeer.answered(f.socketPath) } }
            try await offPool { peers[0].waitUntilClosed() }
            for peer in peers.dropFirst() { #expect(try await peer.ask(GetStatus()) != nil) }
            #expect(try await other.isAnswered())
            try await other.end()
        }
    }

    /// The process that was there first keeps its connection, although that has been idle longest.
    @Test func closesAConnectionOfTheProcessWithMostOfThem() async throws {
        try await AgentFixture.with(connectionLimit: 8) { f in
            let other = try await OtherProcess.connected(to: f.socketPath)
            let peers = try await offPool { try (0..<8).map { _ in try RawPeer.answered(f.socketPath) } }
            try await offPool { peers[0].waitUntilClosed() }
            #expect(try await other.isAnswered())
            try await other.end()
        }
    }

    @Test func refusesAConnectionOfAProcessThatUsesAllOfItsConnections() async throws {
        try await AgentFixture.with(peerLimits: .connections(3)) { f in
            let renewal = try await f.heldRenewal()
            let busy = try await offPool { try (0..<3).map { _ in try RawPeer(f.socketPath) } }
            for peer in busy { try await peer.begin(renewal) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            let next = try RawPeer(f.socketPath)
            try await offPool { next.waitUntilClosed() }
            f.emulator.control.release()
            for peer in busy { #expect(try await offPool { try peer.reply() } != nil) }
        }
    }

    /// The connection gets its reply when the other requests end.
    @Test func keepsAConnectionWhoseRequestWaitsForOthersOfTheProcess() async throws {
        var limits = PeerLimits()
        (limits.connections, limits.requests) = (3, 1)
        try await AgentFixture.with(peerLimits: limits) { f in
            let renewal = try await f.heldRenewal()
            let other = try await OtherProcess.connected(to: f.socketPath)
            let peers = try await offPool { try (0..<3).map { _ in try RawPeer.answered(f.socketPath) } }
            let (idle, busy, waiting) = (peers[0], peers[1], peers[2])
            try busy.write(renewal)
            await f.emulator.control.waitForHeld(atLeast: 1)
            try waiting.write(GetStatus())
            try await other.isAnsweredTwice()
            // The agent has read something of this connection later, but no request.
            idle.write([0])
            try await other.isAnsweredTwice()
            let next = try RawPeer(f.socketPath)
            try await offPool { idle.waitUntilClosed() }
            f.emulator.control.release()
            for peer in [busy, waiting] { #expect(try await offPool { try peer.reply() } != nil) }
            #expect(try await next.ask(GetStatus()) != nil)
            try await other.end()
        }
    }

    /// Otherwise the process could keep all of its connections for ever.
    @Test func closesAConnectionOfAProcessThatReadsNoReplies() async throws {
        try await AgentFixture.with(peerLimits: .connections(2)) { f in
            let status = try RequestFrame.encode(GetStatus(), id: 1)
            let unread = try RawPeer(f.socketPath)
            // The requests fit into the socket, and their replies do not.
            try await offPool { _ = unread.write([[UInt8]](repeating: status, count: 8000).flatMap(\.self)) }
            let peers = try await unread.closedByOthers(f.socketPath)
            for peer in peers { #expect(try await peer.ask(GetStatus()) != nil) }
        }
    }

    /// The requests have waited for the network, and their outcomes wait for the process.
    @Test func closesAConnectionOfAProcessThatReadsNoRepliesOfTheNetwork() async throws {
        try await AgentFixture.with(peerLimits: .connections(2)) { f in
            let renewal = try RequestFrame.encode(try await f.heldRenewal(), id: 1)
            let unread = try RawPeer(f.socketPath)
            try await offPool { _ = unread.write([[UInt8]](repeating: renewal, count: 600).flatMap(\.self)) }
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            let peers = try await unread.closedByOthers(f.socketPath)
            for peer in peers { #expect(try await peer.ask(GetStatus()) != nil) }
        }
    }

    /// A diagnosis opens sockets, looks at files and asks the identity provider.
    @Test func makesOneDiagnosisOfAProcessAtATime() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.inject(Fault { ($0.endpoint, $0.hold) = (.openIDConfiguration, true) })
            let diagnose = Diagnose(authority: try f.parameters().authority)
            let peer = try RawPeer(f.socketPath)
            for number in 1...9 { try peer.write(diagnose, id: UInt64(number)) }
            let refusal = try #require(try await offPool { try peer.reply() })
            #expect(refusal.id == 9)
            let error = #expect(throws: TokenError.self) { try refusal.reply(to: Diagnose.self) }
            #expect(error?.code == .requestDenied && error?.reason == .agent)
            await f.emulator.control.waitForHeld(atLeast: 1)
            // Each of them would be answered, were it not for its turn: one is held.
            #expect(f.emulator.control.counts[.openIDConfiguration] == 1)
            f.emulator.control.release()
            for number in 1...8 {
                let reply = try #require(try await offPool { try peer.reply() })
                #expect(try reply.id == UInt64(number) && !reply.reply(to: Diagnose.self).checks.isEmpty)
            }
            #expect(try await peer.ask(diagnose) != nil)
        }
    }

    /// What the peer has sent before it closed its sending side is answered, also what waited for its turn.
    @Test func answersEveryPipelinedRequestBeforeAHalfClose() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let count: UInt64 = 3000
            let frames = try (1...count).flatMap { try RequestFrame.encode(GetStatus(), id: $0) }
            try await offPool {
                peer.write(frames)
                peer.finishWriting()
            }
            let replies = try await offPool { try (1...count).map { _ in try peer.reply()?.id } }
            #expect(replies.count { $0 != nil } == Int(count))
            #expect(Set(replies) == Set((1...count).map { $0 }))
            try await offPool { peer.waitUntilClosed() }
        }
    }

    #if os(Linux)
        /// The system decides how much a socket holds, which may be megabytes; on macOS it is a few kilobytes.
        @Test func closesAConnectionThatEndsBehindMoreRequestsThanTheAgentKeeps() async throws {
            var limits = PeerLimits()
            limits.waitingBytes = 128 << 10
            try await AgentFixture.with(peerLimits: limits) { f in
                let peer = try RawPeer(f.socketPath)
                let status = try RequestFrame.encode(GetStatus(), id: 1)
                var rest = [[UInt8]](repeating: status, count: 60_000).flatMap(\.self)[...]
                // The agent reads until the replies have filled the socket.
                var written = 0
                repeat {
                    written = peer.writeAtOnce(rest.prefix(1 << 20))
                    rest = rest.dropFirst(written)
                    for _ in 0..<2 { _ = try await f.agent.status() }
                } while written > 0
                #expect(!peer.isClosed)
                peer.finishWriting()
                // Without reading a reply. A process that another test is starting has the agent's end of the connection for a moment.
                while !peer.isClosed { _ = try await f.agent.status() }
            }
        }

        /// The frames wait for another request of the process. The first one is incomplete when it is read, so that more than usual follows
        /// it into memory.
        @Test func answersWhatASocketOfUsualSizeHoldsBeforeAHalfClose() async throws {
            var limits = PeerLimits()
            limits.requests = 1
            try await AgentFixture.with(peerLimits: limits) { f in
                let renewal = try await f.heldRenewal()
                let other = try await OtherProcess.connected(to: f.socketPath)
                let peer = try await offPool { try RawPeer.answered(f.socketPath) }
                peer.useUsualBuffer()
                try peer.write(renewal)
                await f.emulator.control.waitForHeld(atLeast: 1)
                let frame = try Self.longFrame()
                let frames = [[UInt8]](repeating: frame, count: 10).flatMap(\.self)
                var sent = frame.count - 1
                peer.write(Array(frames.prefix(sent)))
                try await other.isAnsweredTwice()
                var written = 0
                repeat {
                    written = peer.writeAtOnce(frames.dropFirst(sent))
                    sent += written
                    try await other.isAnsweredTwice()
                } while written > 0
                peer.finishWriting()
                try await other.isAnsweredTwice()
                #expect(!peer.isClosed)
                f.emulator.control.release()
                let complete = sent / frame.count
                for _ in 0...complete { #expect(try await offPool { try peer.reply() } != nil) }
                try await offPool { peer.waitUntilClosed() }
                try await other.end()
            }
        }

        /// A request whose frame is nearly as long as one may be: it has a field that the agent does not know.
        private static func longFrame() throws -> [UInt8] {
            var body = Array(try RequestFrame.encode(GetStatus(), id: 1).dropFirst(FrameDecoder.headerLength))
            // Number 100, and the length of 60,000 bytes.
            body += [0xA2, 0x06, 0xE0, 0xD4, 0x03]
            body += [UInt8](repeating: 0x78, count: 60_000)
            return withUnsafeBytes(of: UInt32(body.count).bigEndian) { Array($0) } + body
        }
    #endif

    @Test func answersEveryRequestOfManyConnections() async throws {
        try await AgentFixture.with { f in
            let peers = try await offPool { try (0..<50).map { _ in try RawPeer(f.socketPath) } }
            let frames = try (1...40).flatMap { try RequestFrame.encode(GetStatus(), id: $0) }
            try await offPool { for peer in peers { peer.write(frames) } }
            for peer in peers {
                let replies = try await offPool { try (1...40).map { _ in try peer.reply()?.id } }
                #expect(Set(replies) == Set((1...40).map { $0 }))
            }
        }
    }
}

extension AgentFixture {
    /// Signs in, and returns a request whose redemption the emulator holds.
    func heldRenewal() async throws -> AcquireTokenSilent {
        let account = try await signIn("alice@contoso.com", parameters()).account.reference
        emulator.control.inject(.hold(grant: .refreshToken))
        return AcquireTokenSilent(parameters: try parameters(), account: account, forceRefresh: true)
    }
}

extension OtherProcess {
    /// Returns when the agent has read everything that was sent before on connections whose peers are identified: it looks at all
    /// connections in turn, so that the second request comes after what came with the first one.
    func isAnsweredTwice() async throws {
        for _ in 0..<2 { #expect(try await isAnswered()) }
    }
}

extension PeerLimits {
    fileprivate static func connections(_ count: Int) -> PeerLimits {
        var limits = PeerLimits()
        limits.connections = count
        return limits
    }
}

extension RawPeer {
    /// Opens two connections at a time until the agent closes this one, and returns the last two. Until the replies to this one have
    /// filled its socket, the new ones close each other.
    fileprivate func closedByOthers(_ socketPath: String) async throws -> [RawPeer] {
        try await offPool {
            var peers: [RawPeer] = []
            while !self.isClosed { peers = try (0..<2).map { _ in try RawPeer.answered(socketPath) } }
            return peers
        }
    }

    /// Sends a request whose reply the agent keeps until the last reply does not fit into the socket.
    func fill(with hit: AcquireTokenSilent, _ f: AgentFixture) async throws {
        #expect(try await ask(hit)?.isFromCache == true)
        var (before, received) = (-1, 0)
        while received > before {
            try write(hit)
            // The second one is answered after everything that was sent before the first one.
            for _ in 0..<2 { _ = try await f.agent.status() }
            (before, received) = (received, receivedCount)
        }
    }
}
