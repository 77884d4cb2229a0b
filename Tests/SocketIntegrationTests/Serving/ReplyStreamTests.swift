internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// The SDK's reader of replies, at the other end of a socket.
@Suite(.bounded) struct ReplyStreamTests {
    @Test func deliversCompleteFramesBeforeAMalformedOne() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, SocketType.stream, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let good = ReplyFrame.encode(.success(CancelInteraction.Reply()), to: CancelInteraction.self, id: 7)
        let bytes = good + [0xff, 0xff, 0xff, 0xff]
        #expect(write(ends[1], bytes, bytes.count) == bytes.count)
        var stream = ReplyStream(socket: ends[0])
        #expect(try stream.read().map(\.id) == [7])
        // Readable, so that the reading thread comes back for the failure.
        var event = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&event, 1, 0) == 1)
        let failure = #expect(throws: TokenError.self) { try stream.read() }
        #expect(failure?.code == .frameTooLarge)
    }

    /// A reply that arrives alone is decoded where it is; so it must not be taken for one that is cut or followed by another.
    @Test func readsRepliesInWhateverPiecesTheyArrive() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, SocketType.stream, 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var random = TestSeed()
        let seed = "\(random)"
        var stream = ReplyStream(socket: ends[0])
        let frames = (1...200).map { id in
            ReplyFrame.encode(.success(CancelInteraction.Reply()), to: CancelInteraction.self, id: UInt64(id))
        }
        let bytes = frames.flatMap(\.self)
        var (sent, ids) = (0, [UInt64]())
        while sent < bytes.count {
            let isWhole = random.next() % 2 == 0
            let count = min(isWhole ? frames[ids.count].count : 1 + Int(random.next() % 20), bytes.count - sent)
            #expect(write(ends[1], Array(bytes[sent..<sent + count]), count) == count)
            sent += count
            ids += try stream.read().map(\.id)
        }
        #expect(ids == (1...200).map { UInt64($0) }, "\(seed)")
    }
}
