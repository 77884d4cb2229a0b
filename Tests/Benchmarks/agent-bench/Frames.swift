internal import CBenchSystem
internal import Foundation
internal import TokenModel
internal import TokenWire

/// The frame of a silent request, and the length of its reply, with which the floor's server answers.
struct Frames: Sendable {
    let request: [UInt8]
    let replyLength: Int

    /// Sends the request once, and checks that it is a cache hit.
    init(askedAt socketPath: String) throws {
        request = try RequestFrame.encode(try SignedInAccount.request, id: 1)
        let socket = bench_connect(socketPath)
        guard socket >= 0 else { throw BenchError("cannot connect to \(socketPath) (errno \(-socket))") }
        defer { close(socket) }
        var reply = [UInt8](repeating: 0, count: WireLimits.replyFrame)
        replyLength = bench_ask(socket, request, request.count, &reply, reply.count)
        guard replyLength > FrameDecoder.headerLength else { throw BenchError("no reply (errno \(-replyLength))") }
        let frame = try ReplyFrame(decoding: reply[FrameDecoder.headerLength..<replyLength])
        guard try frame.reply(to: AcquireTokenSilent.self).isFromCache else {
            throw BenchError("the agent does not answer from its cache")
        }
    }
}
