internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// The reader of token results, compared with protobuf-c, which defines what a frame means.
@Suite(.bounded) struct TokenResultReaderTests {
    /// A result as agents make it, with tokens of the usual length.
    private static let plain: TokenResult = {
        var result = WireSamples.resultOfAHit
        result.accessToken = Secret(String(repeating: "eyJ0eXAi.", count: 150))
        setIDToken(String(repeating: "eyJhbGci.", count: 140), of: &result)
        return result
    }()

    /// Results that differ from `plain` in a field each.
    private static let changes: [@Sendable (inout TokenResult) -> Void] = [
        { _ in }, { $0.accessToken = Secret("other") }, { $0.tokenType = "" }, { $0.expiresOn = 0 },
        { $0.expiresOn = .max }, { $0.extendedExpiresOn = nil }, { $0.scopes = [] }, { $0.scopes = ["a", "", "a"] },
        { $0.scopes.removeLast() }, { setIDToken(nil, of: &$0) }, { setIDToken("", of: &$0) },
        { $0.account.homeAccountID = nil },
        { $0.account.username = nil }, { $0.account.username = "bob" }, { $0.account.environment = "" },
        { $0.account.source = .msal }, { $0.account.homeIDToken = nil }, { $0.tenantProfile = nil },
        { $0.tenantProfile?.realm = "" }, { $0.tenantProfile?.localAccountID = nil },
        { $0.tenantProfile?.username = nil }, { $0.tenantProfile?.environment = "elsewhere" },
        { $0.tenantProfile?.isHome = false }, { $0.tenantProfile?.idToken = nil }, { $0.authority = "" },
        { $0.authority = "https://login.example.com/fabrikam" }, { $0.correlationID = CorrelationID() },
        { $0.isFromCache = false }, { $0.isExtendedLifetime = false }, { $0.familyID = nil },
        { $0.hasMultiResourceRefreshToken = false }, { $0.freshness = nil }, { $0.freshness = 0...0 },
    ]

    private static func setIDToken(_ token: String?, of result: inout TokenResult) {
        result.idToken = token
        result.account.homeIDToken = token
        result.tenantProfile?.idToken = token
    }

    private static func frame(_ result: TokenResult, id: UInt64 = 7) -> [UInt8] {
        Array(
            ReplyFrame.encode(.success(result), to: AcquireTokenSilent.self, id: id)
                .dropFirst(FrameDecoder.headerLength))
    }

    private func read(_ frame: [UInt8], _ reader: inout TokenResultReader) -> (id: UInt64, result: TokenResult)? {
        frame.withUnsafeBytes { reader.read($0) }
    }

    @Test func readsWhatAgentsWrite() throws {
        // One reader, which uses the values of the frame before again, and one for each frame.
        var reader = TokenResultReader()
        for (index, change) in (Self.changes + Self.changes.reversed()).enumerated() {
            var result = Self.plain
            change(&result)
            for id: UInt64 in [0, 1, 300, 1 << 62] {
                let frame = Self.frame(result, id: id)
                let expected = try ReplyFrame(decoding: frame).reply(to: AcquireTokenSilent.self)
                var newReader = TokenResultReader()
                let (first, second) = (
                    try #require(read(frame, &reader), "\(index)"), try #require(read(frame, &newReader))
                )
                #expect(first.id == id && first.result == expected, "\(index)")
                #expect(second.id == id && second.result == expected, "\(index)")
            }
        }
    }

    @Test func isThereForEveryFrameOfAReply() throws {
        var reader = TokenResultReader()
        let frame = Self.frame(Self.plain)
        let reply = try frame.withUnsafeBytes { bytes in try ReplyFrame(decoding: bytes, with: &reader) }
        #expect(reply.id == 7 && reply.number == AcquireTokenSilent.number && reply.result != nil)
        #expect(try reply.failure == nil)
        #expect(try reply.reply(to: AcquireTokenSilent.self) == reply.result)
        // A reply to another request does not fit, although its value has the same type.
        let error = #expect(throws: TokenError.self) { try reply.reply(to: RedeemGrant.self) }
        #expect(error?.code == .malformedMessage)
        let other = ReplyFrame.encode(WireSamples.failure, id: 8).dropFirst(FrameDecoder.headerLength)
        let failure = try Array(other).withUnsafeBytes { bytes in try ReplyFrame(decoding: bytes, with: &reader) }
        #expect(try failure.id == 8 && failure.result == nil && failure.failure != nil)
    }

    @Test func leavesWhatAgentsDoNotWriteToProtobuf() throws {
        var reader = TokenResultReader()
        let account = WireBytes.field(1, "oid.tid")
        let correlationID = WireBytes.field(10, WireSamples.correlationID.description)
        func frame(_ fields: [[UInt8]], id: [UInt8] = WireBytes.field(1, 7)) -> [UInt8] {
            id + WireBytes.field(11, Array(fields.joined()))
        }
        let token = WireBytes.field(1, "token")
        let sound = [token, WireBytes.field(7, account), correlationID]
        #expect(read(frame(sound), &reader) != nil)
        let rows: [[UInt8]] = [
            [], [0x08], frame([]), frame(sound, id: []), frame(sound) + WireBytes.field(1, 8), frame(sound) + [0x85],
            frame(sound, id: WireBytes.field(1, UInt64.max)), WireBytes.field(1, 7) + WireBytes.field(2, ""),
            frame([token, correlationID]), frame([WireBytes.field(7, account), correlationID]),
            frame([token, WireBytes.field(7, account)]), frame(sound + [WireBytes.field(19, 1)]),
            frame(sound + [WireBytes.field(19, "text")]), frame(sound + [correlationID]), frame(sound.reversed()),
            frame(sound + [[0x85]]), frame(sound + [WireBytes.field(13, 1)]),
            frame(sound + [[0x59, 0, 0, 0, 0, 0, 0, 0, 0]]),
            frame([WireBytes.field(1, [0x61, 0]), sound[1], correlationID]),
            frame([[0x0A, 0x80, 0x80, 0x80, 0x80, 0], sound[1]]),
            frame([token, sound[1], WireBytes.field(10, "no UUID")]),
            frame([token, WireBytes.field(5, "a"), WireBytes.field(7, account), WireBytes.field(5, "b"), correlationID]
            ),
            frame([token, WireBytes.field(7, account + WireBytes.field(5, "")), correlationID]),
            frame([token, WireBytes.field(7, account + WireBytes.field(6, "id token")), correlationID]),
            frame([token, WireBytes.field(7, account + account), correlationID]),
            frame([token, sound[1], WireBytes.field(8, WireBytes.field(6, "id token")), correlationID]),
            frame([token, WireBytes.repeated(65, WireBytes.field(5, "s")), sound[1], correlationID]),
            frame([token, WireBytes.field(2, [UInt8](repeating: 0x61, count: 4097)), sound[1], correlationID]),
        ]
        for (index, row) in rows.enumerated() { #expect(read(row, &reader) == nil, "\(index)") }
    }

    /// It is left to protobuf-c, whose reply is refused.
    @Test(arguments: [(WireLimits.token, true), (WireLimits.token + 1, false)])
    func readsNoTokenThatIsTooLong(length: Int, expected: Bool) {
        var reader = TokenResultReader()
        let result =
            WireBytes.field(1, String(repeating: "t", count: length))
            + WireBytes.field(7, WireBytes.field(1, "oid.tid"))
            + WireBytes.field(10, WireSamples.correlationID.description)
        let isRead = read(WireBytes.field(1, 7) + WireBytes.field(11, result), &reader) != nil
        #expect(isRead == expected)
    }

    /// Texts are checked in words, of which the last ones overlap.
    @Test func findsEveryByteThatIsNotPlainASCII() throws {
        var reader = TokenResultReader()
        for length in 1...70 {
            for index in 0..<length {
                for byte: UInt8 in [0, 0x7F, 0x80, 0xFF] {
                    var name = [UInt8](repeating: 0x61, count: length)
                    name[index] = byte
                    let fields =
                        WireBytes.field(1, "token") + WireBytes.field(7, WireBytes.field(2, name))
                        + WireBytes.field(10, WireSamples.correlationID.description)
                    let frame = WireBytes.field(1, 7) + WireBytes.field(11, fields)
                    let isRead = read(frame, &reader) != nil
                    #expect(isRead == (byte == 0x7F), "\(byte) at \(index) of \(length)")
                }
            }
        }
    }

    @Test func agreesWithProtobufAboutDamagedFrames() throws {
        let frames = Self.changes.map { change in
            var result = Self.plain
            change(&result)
            Self.setIDToken(result.idToken.map { String($0.prefix(40)) }, of: &result)
            return Self.frame(result)
        }
        var (mutator, reader, readable) = (Mutator(), TokenResultReader(), 0)
        for round in 0..<20_000 {
            // Half of the rounds change one byte only, so that many frames stay readable.
            var bytes = frames[round % frames.count]
            if round.isMultiple(of: 2) {
                bytes = mutator.damage(bytes, with: frames)
            } else {
                bytes[round / 2 % bytes.count] &+= UInt8(truncatingIfNeeded: 1 + round / 7)
            }
            if let broken = WireProperties.brokenReading(bytes, with: &reader) {
                Issue.record("\(bytes.hex): \(broken)")
                return
            }
            if read(bytes, &reader) != nil { readable += 1 }
        }
        #expect(readable > 2_000, "\(readable)")
    }
}
