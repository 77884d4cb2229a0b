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

    /// A decoded reply is the same after it is encoded and decoded again; a token result that is read without protobuf-c is the same,
    /// also by a reader that has read another one before.
    static func brokenReply(_ bytes: [UInt8]) -> String? {
        var reader = TokenResultReader()
        let other = ReplyFrame.encode(.success(WireSamples.resultOfAHit), to: AcquireTokenSilent.self, id: 1)
        for _ in 1...2 {
            if let broken = brokenReading(bytes, with: &reader) { return broken }
            guard other.dropFirst(FrameDecoder.headerLength).withUnsafeBytes({ reader.read($0) }) != nil else {
                return "a hit is not read"
            }
        }
        guard let reply = try? AnyReply(decoding: bytes) else { return nil }
        let frame = reply.frame()
        guard frame.count <= FrameDecoder.headerLength + WireLimits.replyFrame else { return "a reply over the limit" }
        guard let again = try? AnyReply(decoding: frame.dropFirst(FrameDecoder.headerLength)) else {
            return "\(reply) cannot be decoded again"
        }
        return again == reply || isTooLarge(again) ? nil : "\(reply) became \(again)"
    }

    /// What the reader of token results reads, protobuf-c reads alike; and again, with the values that the reader has kept.
    static func brokenReading(_ bytes: [UInt8], with reader: inout TokenResultReader) -> String? {
        for _ in 1...2 {
            guard let read = bytes.withUnsafeBytes({ reader.read($0) }) else { return nil }
            guard let frame = try? ReplyFrame(decoding: bytes),
                let result = try? frame.reply(to: AcquireTokenSilent.self)
            else { return "\(read) is no reply" }
            guard frame.id == read.id, result == read.result else { return "\(result) was read as \(read)" }
        }
        return nil
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
