internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// The SDK's reading side, at the other end of a real socket.
@Suite(.bounded) struct ReplyStreamTests {
    @Test func deliversWhatWasWholeBeforeTheStreamStoppedMakingSense() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let good = Reply(id: 7, .cancelInteraction).frame()
        let bytes = good + [0xff, 0xff, 0xff, 0xff]
        #expect(write(ends[1], bytes, bytes.count) == bytes.count)
        var stream = ReplyStream(socket: ends[0])
        #expect(try stream.read() == [Reply(id: 7, .cancelInteraction)])
        #expect(stream.isReadable(within: 0))
        let failure = #expect(throws: TokenError.self) { try stream.read() }
        #expect(failure?.code == .frameTooLarge)
    }
}
