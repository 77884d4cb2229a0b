internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Bytes that a peer marks as urgent (`MSG_OOB`), which a library may not expect.
@Suite(.bounded) struct OutOfBandTests {
    /// A frame with an urgent byte is answered.
    @Test func readsABytesOutOfBandLikeAnyOther() async throws {
        try await AgentFixture.with { f in
            try await offPool {
                let peer = try RawPeer(f.socketPath)
                let frame = try RequestFrame.encode(GetStatus(), id: 1)
                peer.write([frame[0]], outOfBand: true)
                peer.write(Array(frame[1...]))
                #expect(try peer.reply()?.id == 1)
            }
        }
    }

    @Test func servesOthersAtAPublishedSocket() async throws {
        try await AgentFixture.with { f in
            try await f.published { client in
                let peer = try await offPool { try RawPeer(client.socketPath) }
                peer.write([0], outOfBand: true)
                _ = try await client.status()
                _ = try await f.agent.status()
            }
        }
    }
}
