internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Malformed requests, and the code of the failure that answers them.
@Suite(.bounded) struct RejectionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        var code = TokenError.Code.malformedMessage
    }

    private static let app = WireBytes.field(1, "app")

    /// A silent request's bytes, with these token parameters.
    private static func silent(_ parameters: [UInt8], _ more: [UInt8] = []) -> [UInt8] {
        WireBytes.field(1, 77) + WireBytes.field(11, WireBytes.field(1, parameters) + more)
    }

    static let rows: [Row] = [
        Row(
            testDescription: "a request of a later version", bytes: WireBytes.field(1, 77) + WireBytes.field(99, ""),
            code: .unsupportedProtocolVersion),
        Row(testDescription: "no request", bytes: WireBytes.field(1, 77), code: .unsupportedProtocolVersion),
        Row(testDescription: "no parameters", bytes: WireBytes.field(1, 77) + WireBytes.field(11, "")),
        Row(testDescription: "no client ID", bytes: silent([])),
        Row(testDescription: "a blank client ID", bytes: silent(WireBytes.field(1, "  "))),
        Row(testDescription: "a NUL byte", bytes: silent(WireBytes.field(1, "good\0evil"))),
        Row(testDescription: "invalid UTF-8", bytes: silent(WireBytes.field(1, [0x61, 0xff, 0xfe]))),
        Row(testDescription: "an overlong encoding", bytes: silent(WireBytes.field(1, [0xc0, 0xaf]))),
        Row(testDescription: "a surrogate", bytes: silent(WireBytes.field(1, [0xed, 0xa0, 0x80]))),
        Row(
            testDescription: "a text of 4097 bytes",
            bytes: silent(WireBytes.field(1, String(repeating: "a", count: 4097)))),
        Row(
            testDescription: "claims of 32769 bytes",
            bytes: silent(app + WireBytes.field(7, String(repeating: "a", count: 32_769)))),
        Row(
            testDescription: "257 scopes", bytes: silent(app + WireBytes.repeated(257, WireBytes.field(5, "s")))),
        Row(
            testDescription: "257 extra parameters",
            bytes: silent(app + WireBytes.repeated(257, WireBytes.field(9, WireBytes.field(1, "p"))))),
        Row(testDescription: "blank scopes only", bytes: silent(app + WireBytes.repeated(2, WireBytes.field(5, " ")))),
        Row(
            testDescription: "a published socket with blank scopes only",
            bytes: WireBytes.field(1, 77)
                + WireBytes.field(
                    34, WireBytes.field(1, "/run/s") + WireBytes.field(3, "app") + WireBytes.field(5, ""))),
        Row(testDescription: "a blank sharing group", bytes: silent(app + WireBytes.field(2, " "))),
        Row(testDescription: "an authority without a URL", bytes: silent(app + WireBytes.field(3, ""))),
        Row(
            testDescription: "an authority over http",
            bytes: silent(app + WireBytes.field(3, WireBytes.field(1, "http://login.example.com/common"))),
            code: .invalidDeveloperParameter),
        Row(testDescription: "a negative buffer", bytes: silent(app, WireBytes.field(4, UInt64.max))),
        Row(testDescription: "an endless buffer", bytes: silent(app, WireBytes.field(4, UInt64(Int64.max)))),
        Row(testDescription: "no session", bytes: WireBytes.field(1, 77) + WireBytes.field(13, "")),
        Row(
            testDescription: "an unknown extent of removal",
            bytes: WireBytes.field(1, 77) + WireBytes.field(18, app + WireBytes.field(4, 0xffff_ffff))),
    ]

    @Test(arguments: rows)
    func answersTheRequestItCannotServe(row: Row) throws {
        #expect(try RequestFrame(decoding: row.bytes).id == 77)
        let error = #expect(throws: TokenError.self) { try AnyRequest(decoding: row.bytes) }
        #expect(error?.code == row.code)
    }

    @Test(arguments: [
        [0xff], [0x08], [0x5a, 0x10, 0x01], [0x07], Array(repeating: 0x80, count: 32),
        // A message in place of a number is a field of another type.
        WireBytes.field(11, 5),
    ])
    func answersWithoutANumberWhatIsNotARequestAtAll(bytes: [UInt8]) {
        let error = #expect(throws: TokenError.self) { try RequestFrame(decoding: bytes) }
        #expect(error?.code == .malformedMessage)
        #expect(throws: TokenError.self) { try ReplyFrame(decoding: bytes) }
    }

    /// No request is answered as if it had asked for something else. The remedy is another than for a number that is missing.
    @Test(arguments: [UInt64(0), 99, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
    func namesTheNumberThatOnlyALaterAgentKnows(number: UInt64) {
        let authority = WireBytes.field(1, "https://login.example.com/common") + WireBytes.field(2, number)
        let kind = WireBytes.field(1, Self.app + WireBytes.field(3, authority))
        let version = WireBytes.field(1, Self.app + WireBytes.field(4, number))
        let rows: [(name: String, request: UInt64, fields: [UInt8])] = [
            ("kind", 11, kind), ("version", 11, version), ("kind", 12, kind), ("version", 14, version),
            ("extent", 18, Self.app + WireBytes.field(4, number)), ("kind", 20, WireBytes.field(1, authority)),
            ("version", 21, WireBytes.field(2, number)), ("kind", 23, kind),
            ("kind", 23, WireBytes.field(1, Self.app) + WireBytes.field(2, number) + WireBytes.field(3, "grant")),
            ("format", 29, WireBytes.field(1, number)), ("format", 30, WireBytes.field(1, number)),
            ("source", 32, WireBytes.field(1, number)),
            ("kind", 34, WireBytes.field(1, "/run/s") + WireBytes.field(3, "app") + WireBytes.field(6, authority)),
        ]
        for row in rows {
            let bytes = WireBytes.field(1, 77) + WireBytes.field(row.request, row.fields)
            let error = #expect(throws: TokenError.self) { try AnyRequest(decoding: bytes) }
            #expect(error?.code == .malformedMessage)
            #expect(error?.message == "\(row.name) \(number) is not known; update the agent")
        }
    }

    /// Each message has two bytes in the frame and some hundred in memory: the limit of the arena has to apply before.
    @Test func refusesAFrameOfTensOfThousandsOfEmptyMessages() throws {
        let tiny = WireBytes.repeated(WireLimits.requestFrame / 2 - 16, WireBytes.field(9, ""))
        let error = #expect(throws: TokenError.self) {
            try RequestFrame(decoding: WireBytes.field(11, WireBytes.field(1, tiny)))
        }
        #expect(error?.code == .malformedMessage)

        let accounts = WireBytes.repeated(WireLimits.replyFrame / 2 - 16, WireBytes.field(1, ""))
        let thrown = #expect(throws: TokenError.self) { try ReplyFrame(decoding: WireBytes.field(17, accounts)) }
        #expect(thrown?.code == .malformedMessage)
    }

    /// Comparing it would take a time that is quadratic in their number.
    @Test(arguments: [(30, true), (31, false)])
    func refusesATextWithTooManyCombiningCharacters(count: Int, isRead: Bool) {
        let name = "app" + String(repeating: "\u{301}", count: count)
        let request = try? AnyRequest(decoding: Self.silent(WireBytes.field(1, name)))
        #expect((request != nil) == isRead)
    }

    /// Without it, the socket would be for every app.
    @Test(arguments: [("app", true), (" ", false)])
    func refusesASocketForABlankClientID(clientID: String, isRead: Bool) {
        let socket = WireBytes.field(1, "/run/s") + WireBytes.field(3, clientID)
        let request = try? AnyRequest(decoding: WireBytes.field(1, 77) + WireBytes.field(34, socket))
        #expect((request != nil) == isRead)
    }

    /// The agent can be another user's, and an app keeps what it gets.
    @Test(arguments: [(WireLimits.token, true), (WireLimits.token + 1, false)])
    func refusesATokenThatIsTooLong(length: Int, isRead: Bool) throws {
        let result =
            WireBytes.field(1, String(repeating: "t", count: length))
            + WireBytes.field(7, WireBytes.field(1, "oid.tid"))
            + WireBytes.field(10, WireSamples.correlationID.description)
        let frame = try ReplyFrame(decoding: WireBytes.field(1, 77) + WireBytes.field(11, result))
        let reply = try? frame.reply(to: AcquireTokenSilent.self)
        #expect((reply != nil) == isRead)
    }

    @Test(arguments: [(WireLimits.token, true), (WireLimits.token + 1, false)])
    func refusesAPartOfAnExportThatIsTooLong(length: Int, isRead: Bool) throws {
        let part = WireBytes.field(1, [UInt8](repeating: 0, count: length))
        let frame = try ReplyFrame(decoding: WireBytes.field(1, 77) + WireBytes.field(30, part))
        let reply = try? frame.reply(to: ExportCache.self)
        #expect((reply != nil) == isRead)
    }

    @Test func endsTheRequestOfAReplyThatMakesNoSense() throws {
        let rows: [([UInt8], TokenError.Code)] = [
            (WireBytes.field(99, ""), .unsupportedProtocolVersion),
            ([], .unsupportedProtocolVersion),
            (WireBytes.field(11, ""), .malformedMessage),
            (WireBytes.field(11, WireBytes.field(1, "token")), .malformedMessage),
            (WireBytes.field(12, WireBytes.field(2, "https://example.com")), .malformedMessage),
            (WireBytes.field(10, WireBytes.repeated(257, WireBytes.field(3, 1))), .malformedMessage),
            (WireBytes.field(2, WireBytes.repeated(257, WireBytes.field(6, 1))), .malformedMessage),
        ]
        for (body, code) in rows {
            let frame = try ReplyFrame(decoding: WireBytes.field(1, 77) + body)
            #expect(frame.id == 77)
            let error = #expect(throws: TokenError.self) { try AnyReply.decode(frame) }
            #expect(error?.code == code)
            #expect(error?.reason == .agent)
        }
    }

    /// Else the names of its fields look like a mistake in the request.
    @Test func saysThatItIsTheReplyThatCannotBeRead() throws {
        let result = try ReplyFrame(decoding: WireBytes.field(11, WireBytes.field(1, "token")))
        let incomplete = #expect(throws: TokenError.self) { try result.reply(to: AcquireTokenSilent.self) }
        let beginning = "the agent's reply cannot be read: "
        let ending = "; update the agent and this program"
        #expect(incomplete?.message == beginning + "account is missing or blank" + ending)
        let other = #expect(throws: TokenError.self) { try result.reply(to: GetStatus.self) }
        #expect(other?.message == beginning + "it does not fit the request" + ending)
    }

    /// Apps compute with it, and the agent can be another user's.
    @Test(arguments: [
        (Int64.min, Int64(0)), (-1, 0), (0, 0), (600, 600), (86_400, 86_400), (86_401, 86_400), (.max, 86_400),
    ])
    func limitsTheLifetimeOfASignIn(sent: Int64, read: Int64) throws {
        let number = UInt64(bitPattern: sent)
        let interactive = WireBytes.field(12, WireBytes.field(1, "s") + WireBytes.field(4, number))
        let page = try ReplyFrame(decoding: WireBytes.field(1, 77) + interactive).reply(to: BeginInteractive.self)
        #expect(page.expiresIn == read)
        let deviceCode = WireBytes.field(14, WireBytes.field(1, "s") + WireBytes.field(5, number))
        let code = try ReplyFrame(decoding: WireBytes.field(1, 77) + deviceCode).reply(to: BeginDeviceCode.self)
        #expect(code.expiresIn == read)
    }

    /// Apps add them up.
    @Test(arguments: [
        (Int64.min, Int64(0)), (-1, 0), (0, 0), (600, 600), (2_147_483_648, 2_147_483_647), (.max, 2_147_483_647),
    ])
    func limitsTheNumbersOfAnImport(sent: Int64, read: Int64) throws {
        let number = UInt64(bitPattern: sent)
        let counts = [1, 2, 3, 4, 6].reduce(into: [UInt8]()) { $0 += WireBytes.field($1, number) }
        let body = WireBytes.field(29, WireBytes.field(2, counts))
        let reply = try ReplyFrame(decoding: WireBytes.field(1, 77) + body).reply(to: ImportCache.self)
        #expect(
            reply.report
                == ImportCache.Report(
                    accounts: read, refreshTokens: read, accessTokens: read, idTokens: read, skippedCount: read))
    }

    @Test func doesNotRepeatASecretInTheReasonForARefusal() throws {
        let secret = [UInt8]("eyJ-secret".utf8) + [0] + [UInt8]("more".utf8)
        let frame = try ReplyFrame(
            decoding: WireBytes.field(11, WireBytes.field(1, secret) + WireBytes.field(7, "")))
        let error = #expect(throws: TokenError.self) { try frame.reply(to: AcquireTokenSilent.self) }
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }
}
