internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// The agent serves other peers whatever one of them sends.
@Suite(.bounded) struct RobustnessTests {
    /// Malformed frames, and the code of the last reply before the connection closes.
    @Test(arguments: [
        ([0, 0, 0, 0], TokenError.Code.malformedMessage), ([0xFF, 0xFF, 0xFF, 0xFF], .frameTooLarge),
        ([0, 1, 0, 1], .frameTooLarge), (Array("GET / HTTP/1.1\r\n\r\n".utf8), .frameTooLarge),
    ])
    func closesAConnectionAfterAMalformedFrame(_ bytes: [UInt8], _ code: TokenError.Code) async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            peer.write(bytes)
            let failure = try peer.reply()?.failure
            #expect(failure?.code == code && failure?.details.reason == .request)
            peer.waitUntilClosed()
            _ = try await f.agent.status()
        }
    }

    @Test func keepsAConnectionAfterAMalformedMessage() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            // No message; a request that is a number; and request_id 9 before such a request.
            let messages: [(bytes: [UInt8], id: UInt64)] = [
                ([0xFF, 0xFF], 0), ([0x58, 0x05], 0), ([0x08, 0x09, 0x58, 0x05], 9),
            ]
            for (bytes, id) in messages {
                peer.write([0, 0, 0, UInt8(bytes.count)] + bytes)
                let refusal = try #require(try peer.reply())
                #expect(try refusal.failure?.code == .malformedMessage)
                #expect(refusal.id == id)
            }
            try peer.write(GetStatus(), id: 7)
            let reply = try #require(try peer.reply())
            #expect(reply.id == 7)
        }
    }

    /// A request of that many small values would need much more memory than its bytes, so that it is not decoded.
    @Test func answersACallWithMoreValuesThanAMessageCanHave() async throws {
        try await AgentFixture.with { f in
            var request = AcquireTokenSilent(parameters: try f.parameters(), account: AccountReference())
            request.parameters.capabilities = Array(repeating: "a", count: 20_000)
            let error = await #expect(throws: TokenError.self) { try await f.agent.acquireTokenSilent(request) }
            #expect(error?.code == .malformedMessage)
        }
    }

    @Test func answersAnUnknownRequest() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            // request_id 9, and an empty body with field number 1000.
            peer.write([0, 0, 0, 5, 0x08, 0x09, 0xC2, 0x3E, 0x00])
            let reply = try #require(try peer.reply())
            #expect(reply.id == 9)
            let failure = try reply.failure
            #expect(failure?.code == .unsupportedProtocolVersion)
            // The program may have been updated since the agent was started.
            #expect(failure?.message.contains(ProductVersion.text) == true)
        }
    }

    @Test func answersEveryRequestOnceInOneWriteOrByteByByte() async throws {
        try await AgentFixture.with { f in
            let frames = try (1...50).map { try RequestFrame.encode(GetStatus(), id: $0) }
            let together = try RawPeer(f.socketPath)
            together.write(frames.flatMap(\.self))
            // In any order: a request during the load of the store waits for it.
            #expect(Set(try (1...50).map { _ in try together.reply()?.id }) == Set((1...50).map { $0 }))
            let slowly = try RawPeer(f.socketPath)
            for byte in frames[0] + frames[1] { slowly.write([byte]) }
            #expect(Set(try (1...2).map { _ in try slowly.reply()?.id }) == [1, 2])
        }
    }

    @Test func answersRequestsThatPrecedeAHalfClose() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let peer = try RawPeer(f.socketPath)
            try peer.write(GetStatus(), id: 1)
            let renewal = AcquireTokenSilent(
                parameters: try f.parameters(), account: reference, forceRefresh: true)
            try peer.write(renewal, id: 2)
            peer.finishWriting()
            #expect(try peer.reply()?.id == 1)
            await f.emulator.control.waitForHeld(atLeast: 1)
            f.emulator.control.release()
            let reply = try await offPool { try peer.reply() }
            #expect(reply?.id == 2)
            try await offPool { peer.waitUntilClosed() }
        }
    }

    @Test func answersARequestThatComesWithTheEndOfTheStream() async throws {
        try await AgentFixture.with { f in
            for _ in 0..<20 {
                let peer = try RawPeer(f.socketPath)
                try peer.write(GetStatus(), id: 1)
                peer.finishWriting()
                #expect(try await offPool { try peer.reply() }?.id == 1)
            }
        }
    }

    @Test func survivesAPeerThatDisconnectsDuringItsRedemption() async throws {
        try await AgentFixture.with { f in
            let reference = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let renewal = AcquireTokenSilent(
                parameters: try f.parameters(), account: reference, forceRefresh: true)
            do {
                let peer = try RawPeer(f.socketPath)
                try peer.write(renewal, id: 1)
                await f.emulator.control.waitForHeld(atLeast: 1)
            }
            let other = Task { try await f.agent.acquireTokenSilent(renewal) }
            _ = try await f.agent.status()
            f.emulator.control.release()
            #expect(try await other.value.isFromCache == false)
            #expect(f.emulator.control.counts.reusedRefreshTokens == 0)
        }
    }

    @Test func servesRequestsBesideIdleAndIncompletePeers() async throws {
        try await AgentFixture.with { f in
            var peers: [RawPeer] = []
            for number in 0..<1000 {
                let peer = try RawPeer(f.socketPath)
                if number.isMultiple(of: 2) { peer.write([0, 0, 0x10]) }
                if number.isMultiple(of: 5) { peer.write([0, 1, 2, 3]) }
                peers.append(peer)
            }
            for _ in 0..<20 { _ = try await f.agent.status() }
            withExtendedLifetime(peers) {}
        }
    }

    /// The connections of a process that are not identified yet count against its limit as those that are.
    @Test func servesTheLatestConnectionOfAProcessThatConnectsFasterThanItIsIdentified() async throws {
        var limits = PeerLimits()
        limits.connections = 8
        try await AgentFixture.with(peerLimits: limits) { f in
            for _ in 0..<20 {
                let peers = try (0..<100).map { _ in try RawPeer(f.socketPath) }
                let latest = try RawPeer(f.socketPath)
                try latest.write(GetStatus(), id: 1)
                #expect(try await offPool { try latest.reply() }?.id == 1)
                withExtendedLifetime(peers) {}
            }
        }
    }

    @Test func closesTheConnectionIdleLongestBeyondTheLimit() async throws {
        try await AgentFixture.with(connectionLimit: 8) { f in
            let oldest = try RawPeer(f.socketPath)
            try oldest.write(GetStatus(), id: 1)
            #expect(try oldest.reply()?.id == 1)
            var others: [RawPeer] = []
            for number in 1...8 {
                let peer = try RawPeer(f.socketPath)
                try peer.write(GetStatus(), id: UInt64(number))
                #expect(try peer.reply()?.id == UInt64(number))
                others.append(peer)
            }
            oldest.waitUntilClosed()
        }
    }

    @Test func closesAConnectionThatStopsInsideAFrameForThirtySeconds() async throws {
        try await AgentFixture.with { f in
            let frame = try RequestFrame.encode(GetStatus(), id: 1)
            let (stopped, slow) = (try RawPeer(f.socketPath), try RawPeer(f.socketPath))
            for peer in [stopped, slow] {
                // The agent receives the beginning of the second frame with the first one, to which it replies.
                peer.write(frame + frame.dropLast())
                #expect(try peer.reply()?.id == 1)
            }
            // The time-out begins after the reply has been sent, and before the agent handles another request.
            _ = try await f.agent.status()
            try await f.timers.advance(by: 29)
            slow.write(Array(frame.suffix(1)))
            #expect(try slow.reply()?.id == 1)
            try await f.timers.advance(by: 1)
            try await offPool { stopped.waitUntilClosed() }
            try slow.write(GetStatus(), id: 2)
            #expect(try slow.reply()?.id == 2)
        }
    }

    /// The peer's other connections use up its share of the loop's time when the bytes arrive.
    @Test func closesAConnectionThatStopsInsideAFrameBesideBusyOnes() async throws {
        try await AgentFixture.with { f in
            let frame = try RequestFrame.encode(GetStatus(), id: 1)
            let busy = try RawPeer(f.socketPath)
            let stopped = try (0..<100).map { _ in try RawPeer(f.socketPath) }
            for peer in stopped {
                peer.write(frame)
                #expect(try peer.reply()?.id == 1)
            }
            let flood = 400
            busy.write((0..<flood).flatMap { _ in frame })
            for peer in stopped { peer.write(frame.dropLast()) }
            for _ in 0..<flood { #expect(try busy.reply()?.id == 1) }
            // What the others have sent has been read when a later request has been answered.
            for _ in 0..<3 {
                try busy.write(GetStatus(), id: 1)
                #expect(try busy.reply()?.id == 1)
            }
            try await f.timers.advance(by: 30)
            try await offPool { for peer in stopped { peer.waitUntilClosed() } }
        }
    }

    /// Each read of a busy peer may end inside a frame.
    @Test func keepsAConnectionWhoseFramesBecomeComplete() async throws {
        try await AgentFixture.with { f in
            let frame = try RequestFrame.encode(GetStatus(), id: 1)
            let peer = try RawPeer(f.socketPath)
            peer.write(frame + frame.dropLast())
            #expect(try peer.reply()?.id == 1)
            for _ in 0..<3 {
                try await f.timers.advance(by: 20)
                peer.write(Array(frame.suffix(1)) + frame.dropLast())
                #expect(try peer.reply()?.id == 1)
            }
        }
    }

    /// The rest of a frame may wait in the socket's buffer while the agent reads nothing.
    @Test func keepsAConnectionFromWhichItReadsNothing() async throws {
        var limits = PeerLimits()
        // From the first request in progress on, the agent handles none of the process.
        limits.requests = 1
        try await AgentFixture.with(peerLimits: limits) { f in
            let parameters = try f.parameters()
            let account = try await f.signIn("alice@contoso.com", parameters).account.reference
            f.emulator.control.inject(.hold(grant: .refreshToken))
            let request = AcquireTokenSilent(parameters: parameters, account: account, forceRefresh: true)
            let status = try RequestFrame.encode(GetStatus(), id: 2)
            let peer = try RawPeer(f.socketPath)
            peer.write(try RequestFrame.encode(request, id: 1) + status.dropLast())
            await f.emulator.control.waitForHeld(atLeast: 1)
            try await f.timers.advance(by: 60)
            peer.write(Array(status.suffix(1)))
            f.emulator.control.release()
            #expect(try await offPool { try (1...2).map { _ in try peer.reply()?.id } } == [1, 2])
        }
    }

    @Test func survivesRandomBytes() async throws {
        try await AgentFixture.with { f in
            var random = TestSeed()
            for _ in 0..<300 {
                let peer = try RawPeer(f.socketPath)
                let count = Int(random.next() % 200)
                var bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
                // Half of them have the length of a frame, so that the message decoder is reached.
                if random.next().isMultiple(of: 2), count > 0 { bytes = [0, 0, 0, UInt8(count)] + bytes }
                peer.write(bytes)
            }
            await #expect(throws: Never.self, "\(random)") { try await f.agent.status() }
        }
    }
}
