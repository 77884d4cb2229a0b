internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenWire

/// Requests that differ in their IDs only, and their replies without decoding and encoding.
@Suite(.bounded) struct RepetitionTests {
    private static let ids: [UInt64] = [0, 1, 127, 128, 16_383, 16_384, 1 << 40, 1 << 62]

    /// The frame of a request, without its length.
    private func frame(_ request: some WireRequest, id: UInt64 = 1) throws -> [UInt8] {
        Array(try RequestFrame.encode(request, id: id).dropFirst(FrameDecoder.headerLength))
    }

    /// The reply of another request as the reply to `frame`; nil if the frame has to be decoded.
    private func repeated(_ reply: [UInt8], to frame: [UInt8]) throws -> [UInt8]? {
        let packed = try #require(PackedReply(reply))
        return frame.withUnsafeBytes { bytes in
            guard let request = SilentRequestLayout(bytes) else { return nil }
            var reply = [UInt8](repeating: 0xAA, count: packed.length(replyingTo: request))
            reply.withUnsafeMutableBytes { packed.write(replyingTo: request, bytes, to: $0) }
            return reply
        }
    }

    private func reply(id: UInt64, _ correlationID: CorrelationID) -> [UInt8] {
        var result = WireSamples.result
        result.correlationID = correlationID
        return ReplyFrame.encode(.success(result), to: AcquireTokenSilent.self, id: id)
    }

    @Test(arguments: ids)
    func writesTheReplyThatWouldBeEncoded(id: UInt64) throws {
        var request = WireSamples.silent
        request.parameters.correlationID = CorrelationID()
        let expected = reply(id: id, request.parameters.correlationID)
        for other in Self.ids {
            let kept = reply(id: other, WireSamples.correlationID)
            #expect(try repeated(kept, to: frame(request, id: id)) == expected)
        }
    }

    @Test func writesTheCorrelationIDInLowerCase() throws {
        let request = try frame(WireSamples.silent)
        let text = Array(WireSamples.correlationID.description.utf8)
        let upper = Array(WireSamples.correlationID.description.uppercased().utf8)
        #expect(text != upper)
        let kept = reply(id: 9, CorrelationID())
        #expect(try repeated(kept, to: request.replacing(text, with: upper)) == repeated(kept, to: request))
    }

    /// A reply is sent in parts, so that its secret bytes are not copied.
    @Test(arguments: ids)
    func hasTheSameBytesInParts(id: UInt64) throws {
        let frame = try frame(WireSamples.silent, id: id)
        let packed = try #require(PackedReply(reply(id: 9, CorrelationID())))
        let joined = frame.withUnsafeBytes { bytes -> [UInt8]? in
            guard let request = SilentRequestLayout(bytes) else { return nil }
            return packed.withParts(replyingTo: request, bytes) { parts in
                parts.flatMap { UnsafeRawBufferPointer(start: $0.iov_base, count: $0.iov_len) }
            }
        }
        #expect(try joined == repeated(reply(id: 1, CorrelationID()), to: frame))
    }

    /// The layout of a repetition, which is found without reading the frame, is the one that reading it finds.
    @Test func recognisesRepetitionsOfAnEarlierFrame() throws {
        let original = try frame(WireSamples.silent)
        let (earlier, masked) = try original.withUnsafeBytes { bytes in
            let layout = try #require(SilentRequestLayout(bytes))
            return (layout, layout.masked(bytes))
        }
        func layout(_ frame: [UInt8]) -> SilentRequestLayout? {
            frame.withUnsafeBytes { SilentRequestLayout($0, repeating: earlier, masked) }
        }
        for id in Self.ids {
            var request = WireSamples.silent
            request.parameters.correlationID = CorrelationID()
            let again = try frame(request, id: id)
            let read = try #require(again.withUnsafeBytes { SilentRequestLayout($0) })
            let found = try #require(layout(again))
            #expect(found.id == id && found.start == read.start && found.correlationID == read.correlationID)
        }
        // Whatever byte differs, it is another request; no frame is cut off.
        for index in original.indices {
            var other = original
            other[index] ^= 0x80
            #expect(layout(other) == nil, "\(index)")
            #expect(layout(Array(original[..<index])) == nil)
        }
        #expect(layout(original + [0]) == nil)
    }

    @Test(arguments: ids)
    func makesTheFrameThatWouldBeEncoded(id: UInt64) throws {
        let first = try RequestFrame.encode(WireSamples.silent, id: 7)
        let template = try #require(SilentRequestTemplate(first))
        var request = WireSamples.silent
        request.parameters.correlationID = CorrelationID()
        #expect(try template.frame(id: id, request.parameters.correlationID) == RequestFrame.encode(request, id: id))
        #expect(try SilentRequestTemplate(RequestFrame.encode(GetStatus(), id: id)) == nil)
    }

    @Test func leavesWhatIsNoUUIDToTheDecoder() throws {
        let request = try frame(WireSamples.silent)
        let text = Array(WireSamples.correlationID.description.utf8)
        // Control characters that differ from digits and hyphens in one bit.
        for (index, character) in [(0, UInt8(0x10)), (8, 0x0D), (35, 0x47), (35, 0)] {
            var wrong = text
            wrong[index] = character
            #expect(request.replacing(text, with: wrong).withUnsafeBytes { SilentRequestLayout($0) == nil })
        }
    }

    @Test func leavesOtherRequestsAndRepliesToTheDecoder() throws {
        for sample in WireSamples.requests where !sample.name.hasPrefix("acquire_token_silent") {
            #expect(try frame(sample.request).withUnsafeBytes { SilentRequestLayout($0) == nil }, "\(sample.name)")
        }
        #expect(PackedReply(ReplyFrame.encode(WireSamples.failure, id: 1)) == nil)
        #expect(PackedReply([]) == nil)
    }

    /// protobuf-c takes the last of several IDs, and merges several parameters.
    @Test func leavesARequestWithSeveralIDsOrParametersToTheDecoder() throws {
        let request = try frame(WireSamples.silent)
        #expect((request + WireBytes.field(1, 2)).withUnsafeBytes { SilentRequestLayout($0) == nil })
        let id = WireBytes.field(11, WireSamples.correlationID.description)
        for (parameters, isKept) in [([id], true), ([id + id], false), ([id, id], false), ([[]], false)] {
            let body = parameters.flatMap { WireBytes.field(1, $0) }
            let frame = WireBytes.field(1, 7) + WireBytes.field(11, body)
            #expect(frame.withUnsafeBytes { SilentRequestLayout($0) != nil } == isKept, "\(parameters)")
        }
    }

    /// Whatever bytes a peer sends: the IDs are those that the decoder reads, and frames that count as equal are equal.
    @Test func agreesWithTheDecoderAboutDamagedRequests() throws {
        let original = try frame(WireSamples.silent)
        let kept = reply(id: 1, WireSamples.correlationID)
        let masked = original.withUnsafeBytes { bytes in SilentRequestLayout(bytes)?.masked(bytes) }
        let expected = try #require(masked)
        var mutator = Mutator()
        let others = try WireSamples.requests.map { try frame($0.request) }
        var (readable, equal) = (0, 0)
        for round in 0..<12_000 {
            // Half of the rounds change one byte only, so that many frames stay readable.
            var bytes = original
            if round.isMultiple(of: 2) {
                bytes = mutator.damage(bytes, with: others)
            } else {
                let change = round / 2
                bytes[change % bytes.count] &+= UInt8(truncatingIfNeeded: change / bytes.count + 1)
            }
            guard let reply = try repeated(kept, to: bytes), let frame = try? RequestFrame(decoding: bytes),
                let request = try? frame.request(AcquireTokenSilent.self)
            else { continue }
            readable += 1
            #expect(reply == self.reply(id: frame.id, request.parameters.correlationID), "\(bytes)")
            let isEqual = bytes.withUnsafeBytes { SilentRequestLayout($0)?.isEqual($0, to: expected) }
            guard isEqual == true else { continue }
            equal += 1
            var same = WireSamples.silent
            same.parameters.correlationID = request.parameters.correlationID
            #expect(request == same, "\(bytes)")
        }
        #expect(readable > 1_000 && equal > 100, "\(readable) readable, \(equal) equal")
    }

    @Test func tellsRequestsApartThatDifferInMoreThanTheirIDs() throws {
        let original = try frame(WireSamples.silent)
        let masked = original.withUnsafeBytes { bytes in SilentRequestLayout(bytes)?.masked(bytes) }
        var other = WireSamples.silent
        other.expirationBuffer += 1
        let bytes = try frame(other)
        #expect(bytes.withUnsafeBytes { SilentRequestLayout($0)?.isEqual($0, to: masked ?? []) } == false)
        let again = try frame(WireSamples.silent, id: 77)
        #expect(again.withUnsafeBytes { SilentRequestLayout($0)?.isEqual($0, to: masked ?? []) } == true)
        let hashes = [original, bytes, again].map { $0.withUnsafeBytes { b in SilentRequestLayout(b)?.hash(of: b) } }
        #expect(hashes[0] == hashes[2] && hashes[0] != hashes[1])
    }
}
