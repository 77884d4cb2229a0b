internal import TokenModel
internal import TokenWire

/// Properties that hold for all bytes. Shared with the fuzzer in Tests/Fuzz, so it imports no tests.
///
/// Each returns the violation; nil if the property holds.
enum WireProperties {
    /// A decoded request is the same after it is encoded and decoded again.
    static func brokenRequest(_ bytes: [UInt8]) -> String? {
        guard let request = try? AnyRequest(decoding: bytes) else { return nil }
        // Defaults that were absent may make a request near the limit too long.
        guard let frame = try? request.frame() else { return nil }
        guard let again = try? AnyRequest(decoding: frame.dropFirst(FrameDecoder.headerLength)) else {
            return "\(request) cannot be decoded again"
        }
        return again == request ? nil : "\(request) became \(again)"
    }

    /// A decoded reply is the same after it is encoded and decoded again.
    static func brokenReply(_ bytes: [UInt8]) -> String? {
        guard let reply = try? AnyReply(decoding: bytes) else { return nil }
        let frame = reply.frame()
        guard frame.count <= FrameDecoder.headerLength + WireLimits.replyFrame else { return "a reply over the limit" }
        guard let again = try? AnyReply(decoding: frame.dropFirst(FrameDecoder.headerLength)) else {
            return "\(reply) cannot be decoded again"
        }
        return again == reply || isTooLarge(again) ? nil : "\(reply) became \(again)"
    }

    /// The frames and the final error do not depend on how the stream is split, and each of them is announced by `hasFrame`; the
    /// first byte decides the split.
    static func brokenFrames(_ bytes: [UInt8]) -> String? {
        guard let chunk = bytes.first, chunk > 0 else { return nil }
        let stream = bytes.dropFirst()
        let whole = frames(in: stream, chunk: max(stream.count, 1))
        let cut = frames(in: stream, chunk: Int(chunk))
        guard whole.isAnnounced, cut.isAnnounced else { return "hasFrame was wrong in pieces of \(chunk)" }
        return whole == cut ? nil : "\(whole) became \(cut) in pieces of \(chunk)"
    }

    private struct Outcome: Equatable {
        var frames: [[UInt8]] = []
        var error: TokenError.Code?
        var isAnnounced = true
    }

    private static func frames(in stream: ArraySlice<UInt8>, chunk: Int) -> Outcome {
        var decoder = FrameDecoder(limit: 1024)
        var outcome = Outcome()
        for start in stride(from: stream.startIndex, to: stream.endIndex, by: chunk) {
            stream[start..<min(start + chunk, stream.endIndex)].withUnsafeBytes { decoder.append($0) }
            var isAnnounced = decoder.hasFrame
            do throws(TokenError) {
                while let frame = try decoder.next() {
                    outcome.frames.append(Array(frame))
                    outcome.isAnnounced = outcome.isAnnounced && isAnnounced
                    isAnnounced = decoder.hasFrame
                }
                if isAnnounced { outcome.isAnnounced = false }
            } catch {
                outcome.error = error.code
                outcome.isAnnounced = outcome.isAnnounced && isAnnounced
                return outcome
            }
        }
        return outcome
    }

    private static func isTooLarge(_ reply: AnyReply) -> Bool { reply.failure?.code == .frameTooLarge }
}
