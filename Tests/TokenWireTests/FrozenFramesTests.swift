internal import TestSupport
internal import Testing
internal import TokenWire

/// The bytes of protocol version 1. They may never change: an app and an agent of different versions meet on them.
@Suite(.bounded) struct FrozenFramesTests {
    @Test(arguments: WireSamples.requests)
    func encodesARequestToTheSameBytesForEver(sample: WireSamples.Sample<Request.Body>) throws {
        #expect(try Request(id: 1, sample.body).frame().hex == FrozenFrames.requests[sample.name])
    }

    @Test(arguments: WireSamples.replies)
    func encodesAReplyToTheSameBytesForEver(sample: WireSamples.Sample<Reply.Body>) {
        #expect(Reply(id: 1, sample.body).frame().hex == FrozenFrames.replies[sample.name])
    }
}
