internal import TestSupport
internal import Testing
internal import TokenWire

/// The bytes of protocol version 1. They never change, since apps and agents of different versions exchange them.
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
