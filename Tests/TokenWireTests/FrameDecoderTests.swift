internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@Suite(.bounded) struct FrameDecoderTests {
    private static let bodies: [[UInt8]] = [[1], [2, 3], Array(repeating: 4, count: 300), [5]]
    private static let stream = bodies.flatMap(framed)

    @Test(arguments: 1...9)
    func yieldsTheSameFramesHoweverTheStreamIsCut(chunk: Int) throws {
        var decoder = FrameDecoder(limit: 300)
        var frames: [[UInt8]] = []
        for start in stride(from: 0, to: Self.stream.count, by: chunk) {
            decoder.append(Self.stream[start..<min(start + chunk, Self.stream.count)])
            while let frame = try decoder.next() { frames.append(Array(frame)) }
        }
        #expect(frames == Self.bodies)
        #expect(!decoder.isInsideFrame)
    }

    @Test func yieldsEveryFrameOfOneRead() throws {
        var decoder = FrameDecoder(limit: 300)
        decoder.append(Self.stream[...])
        for body in Self.bodies { #expect(try decoder.next().map(Array.init) == body) }
        #expect(try decoder.next() == nil)
    }

    @Test func keepsWhatIsWaitingWhenMoreArrivesBetweenFrames() throws {
        var decoder = FrameDecoder(limit: 8)
        var sent: UInt8 = 0
        var received: UInt8 = 0
        for _ in 0..<60 {
            // Three frames are added for two that are consumed, so that a backlog builds up.
            for _ in 0..<3 {
                decoder.append(framed([sent])[...])
                sent += 1
            }
            for _ in 0..<2 {
                #expect(try decoder.next().map(Array.init) == [received])
                received += 1
            }
        }
        while let frame = try decoder.next() {
            #expect(Array(frame) == [received])
            received += 1
        }
        #expect(received == 180)
        #expect(!decoder.isInsideFrame)
    }

    @Test(arguments: [[0, 0, 1, 45], [0, 1, 0, 0], [0xff, 0xff, 0xff, 0xff], [0x80, 0, 0, 0]] as [[UInt8]])
    func refusesAnOversizedLengthBeforeTheBodyArrives(header: [UInt8]) throws {
        var decoder = FrameDecoder(limit: 300)
        decoder.append(header[...])
        let error = #expect(throws: TokenError.self) { _ = try decoder.next() }
        #expect(error?.code == .frameTooLarge)
    }

    @Test func takesAFrameOfExactlyTheLimit() throws {
        var decoder = FrameDecoder(limit: 300)
        decoder.append(framed(Array(repeating: 9, count: 300))[...])
        #expect(try decoder.next()?.count == 300)
    }

    @Test func refusesAFrameOfLengthZero() throws {
        var decoder = FrameDecoder(limit: 300)
        decoder.append([0, 0, 0, 0])
        let error = #expect(throws: TokenError.self) { _ = try decoder.next() }
        #expect(error?.code == .malformedMessage)
    }

    @Test func knowsWhetherTheStreamEndedInsideAFrame() throws {
        for end in 0...Self.stream.count {
            var decoder = FrameDecoder(limit: 300)
            decoder.append(Self.stream[..<end])
            var whole = 0
            while let frame = try decoder.next() { whole += FrameDecoder.headerLength + frame.count }
            #expect(decoder.isInsideFrame == (whole < end), "\(end)")
        }
    }
}

/// A body after its length.
private func framed(_ body: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (24 - 8 * $0)) } + body
}

extension FrameDecoder {
    fileprivate mutating func append(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { append($0) }
    }
}
