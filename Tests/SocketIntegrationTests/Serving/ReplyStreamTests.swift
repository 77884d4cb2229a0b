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
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let good = ReplyFrame.encode(.success(CancelInteraction.Reply()), to: CancelInteraction.self, id: 7)
        let bytes = good + [0xff, 0xff, 0xff, 0xff]
        #expect(write(ends[1], bytes, bytes.count) == bytes.count)
        var stream = ReplyStream(socket: ends[0])
        #expect(try stream.read().map(\.id) == [7])
        #expect(stream.isReadable(within: 0))
        let failure = #expect(throws: TokenError.self) { try stream.read() }
        #expect(failure?.code == .frameTooLarge)
    }
}
