internal import TestSupport
internal import Testing
internal import TokenWire

/// The bytes of protocol version 1. They may never change: an app and an agent of different versions meet on them.
@Suite(.bounded) struct FrozenFramesTests {
    @Test(arguments: WireSamples.requests)
    func encodesARequestToTheSameBytesForEver(sample: RequestSample) throws {
        #expect(try AnyRequest(sample.request, id: 1).frame().hex == FrozenFrames.requests[sample.name])
    }

    @Test(arguments: WireSamples.replies)
    func encodesAReplyToTheSameBytesForEver(sample: ReplySample) {
        #expect(sample.reply.frame().hex == FrozenFrames.replies[sample.name])
    }
}
