internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@Suite(.bounded) struct RoundTripTests {
    @Test(arguments: WireSamples.requests)
    func decodesTheRequestThatWasEncoded(sample: RequestSample) throws {
        let request = AnyRequest(sample.request, id: .max)
        #expect(try AnyRequest(decoding: try request.frame().dropFirst(FrameDecoder.headerLength)) == request)
    }

    @Test(arguments: WireSamples.replies)
    func decodesTheReplyThatWasEncoded(sample: ReplySample) throws {
        let reply = sample.reply
        #expect(try AnyReply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test func hasASampleOfEveryReply() {
        // Further samples of a message have a longer name.
        let requests = WireSamples.requests.map(\.name).filter { !$0.contains(" ") }
        #expect(Set(WireSamples.replies.map(\.name).filter { !$0.contains(" ") }) == Set(requests + ["failure"]))
        for sample in WireSamples.requests {
            #expect(
                RequestFrame.name(of: type(of: sample.request).number)
                    == sample.name.split(separator: " ").first.map(String.init))
        }
    }

    @Test func putsTheBodysLengthInFourBytesBeforeIt() throws {
        let frame = try AnyRequest(GetStatus(), id: 1).frame()
        #expect(Array(frame.prefix(4)) == [0, 0, 0, UInt8(frame.count - 4)])
    }

    /// Minimal values have no optional fields.
    @Test func keepsAbsentFieldsAbsent() throws {
        var account = WireSamples.account
        account.homeAccountID = nil
        account.username = nil
        account.tenantProfiles = []
        account.homeIDToken = nil
        var result = WireSamples.result
        result.extendedExpiresOn = nil
        result.idToken = nil
        result.tenantProfile = nil
        result.familyID = nil
        result.account = account
        let failure = AnyReply(failure: TokenError(.timedOut, ""), id: 0)
        for reply in [AnyReply(result, to: AcquireTokenSilent.self, id: 0), failure] {
            #expect(try AnyReply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
        }
    }

    /// Whichever of its ID tokens are equal, a result is the same if its message may have them once.
    @Test func restoresTheIDTokensOfAMessageThatHasThemOnce() throws {
        let token = String(repeating: "header.payload.signature", count: 20)
        let tokens = [nil, token, "other"]
        for (main, home, profile) in tokens.flatMap({ a in tokens.flatMap { b in tokens.map { c in (a, b, c) } } }) {
            var result = WireSamples.result
            result.idToken = main
            result.account.homeIDToken = home
            result.tenantProfile?.idToken = profile
            let several = AnyReply(result, to: AcquireTokenSilent.self, id: 1).frame()
            result.allowsSingleIDToken = true
            let single = AnyReply(result, to: AcquireTokenSilent.self, id: 1).frame()
            let repeats = main == nil ? 0 : (home == main ? 1 : 0) + (profile == main ? 1 : 0)
            #expect(single.count <= several.count - repeats * ((main?.utf8.count ?? 0) - 3))
            let read = try [several, single].map { try AnyReply(decoding: $0.dropFirst(FrameDecoder.headerLength)) }
            #expect(read[0] == read[1])
        }
    }

    @Test func keepsAnUnknownCodesNumber() throws {
        let reply = AnyReply(failure: TokenError(.init(number: -59999), "from the future"), id: 1)
        #expect(try AnyReply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test(arguments: [70_000, 600_000, 3_000_000])
    func refusesToSendARequestOverTheLimit(length: Int) {
        var request = WireSamples.silent
        request.parameters.claims = String(repeating: "x", count: length)
        let error = #expect(throws: TokenError.self) { try AnyRequest(request, id: 1).frame() }
        #expect(error?.code == .frameTooLarge)
    }

    /// What is too long may be the name of an account or a path, and a request may have neither claims nor scopes.
    @Test func blamesNoFieldOfARequestOverTheLimit() {
        let request = UnpublishSocket(name: String(repeating: "x", count: 70_000))
        let error = #expect(throws: TokenError.self) { try AnyRequest(request, id: 1).frame() }
        #expect(error?.message == "the request is longer than 65536 bytes; shorten its longest value")
    }

    @Test(arguments: [1_100_000, 2_100_000, 5_000_000])
    func sendsAFailureInPlaceOfAReplyOverTheLimit(length: Int) throws {
        var result = WireSamples.result
        result.accessToken = Secret(String(repeating: "x", count: length))
        let frame = AnyReply(result, to: AcquireTokenSilent.self, id: 9).frame()
        let reply = try AnyReply(decoding: frame.dropFirst(FrameDecoder.headerLength))
        #expect(reply.id == 9)
        #expect(reply.failure?.code == .frameTooLarge)
    }

    /// Without its failure, a request would fail for a reason that nobody finds.
    @Test func carriesAFailureWithoutHeadersThatNoMessageCanHave() throws {
        let details = try Self.received { $0.httpHeaders = ["Date": "today", "a": "b\0", "c\0": "d"] }
        #expect(details?.httpHeaders == ["Date": "today"])
    }

    @Test func carriesAFailureWithMoreHeadersThanAListCanHave() throws {
        let details = try Self.received { details in
            for number in 100..<400 { details.httpHeaders["h\(number)"] = "text" }
        }
        #expect(details?.httpHeaders.count == WireLimits.listItems)
    }

    @Test func carriesAFailureWithMoreScopesThanAListCanHave() throws {
        let scopes = (0..<300).map { "Scope.\($0)" }
        let details = try Self.received { $0.declinedScopes = scopes }
        #expect(details?.declinedScopes == Array(scopes.prefix(WireLimits.listItems)))
    }

    @Test func carriesAFailureWithMoreNumbersThanAListCanHave() throws {
        let numbers = (0..<300).map { Int32($0) }
        let details = try Self.received { $0.stsErrorCodes = numbers }
        #expect(details?.stsErrorCodes == Array(numbers.prefix(WireLimits.listItems)))
    }

    /// The details of a failure as an app reads them.
    private static func received(_ change: (inout TokenError.Details) -> Void) throws -> TokenError.Details? {
        var failure = WireSamples.failure
        change(&failure.details)
        let frame = AnyReply(failure: failure, id: 1).frame()
        return try AnyReply(decoding: frame.dropFirst(FrameDecoder.headerLength)).failure?.details
    }

    @Test func carriesAFullPageOfAccounts() throws {
        let accounts = Array(repeating: WireSamples.account, count: WireLimits.listItems)
        let reply = AnyReply(ListAccounts.Reply(accounts: accounts), to: ListAccounts.self, id: 1)
        #expect(try AnyReply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test func carriesTheLongestListOfTheShortestTexts() throws {
        var request = WireSamples.silent
        request.parameters.capabilities = (0..<WireLimits.listItems).map { String($0, radix: 36) }
        let sent = AnyRequest(request, id: 1)
        #expect(try AnyRequest(decoding: try sent.frame().dropFirst(FrameDecoder.headerLength)) == sent)
    }
}
