internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@Suite(.bounded) struct RoundTripTests {
    @Test(arguments: WireSamples.requests)
    func decodesTheRequestThatWasEncoded(sample: WireSamples.Sample<Request.Body>) throws {
        let request = Request(id: .max, sample.body)
        #expect(Request(decoding: try request.frame().dropFirst(FrameDecoder.headerLength)) == request)
    }

    @Test(arguments: WireSamples.replies)
    func decodesTheReplyThatWasEncoded(sample: WireSamples.Sample<Reply.Body>) throws {
        let reply = Reply(id: 7, sample.body)
        #expect(try Reply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test func hasASampleOfEveryRequest() {
        #expect(WireSamples.requests.count == Request.numbers.count)
        // Further samples of a reply have a longer name.
        #expect(WireSamples.replies.count { !$0.name.contains(" ") } == Request.numbers.count + 1)
    }

    @Test func putsTheBodysLengthInFourBytesBeforeIt() throws {
        let frame = try Request(id: 1, .getStatus(GetStatus())).frame()
        #expect(Array(frame.prefix(4)) == [0, 0, 0, UInt8(frame.count - 4)])
    }

    /// Minimal values take the other branch of every optional field.
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
        for body in [Reply.Body.acquireTokenSilent(result), .failure(TokenError(.timedOut, ""))] {
            let reply = Reply(id: 0, body)
            #expect(try Reply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
        }
    }

    @Test func keepsAnUnknownCodesNumber() throws {
        let reply = Reply(id: 1, .failure(TokenError(.init(number: -59999), "from the future")))
        #expect(try Reply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test(arguments: [70_000, 600_000, 3_000_000])
    func refusesToSendARequestOverTheLimit(length: Int) {
        var request = WireSamples.silent
        request.parameters.claims = String(repeating: "x", count: length)
        let error = #expect(throws: TokenError.self) { try Request(id: 1, .acquireTokenSilent(request)).frame() }
        #expect(error?.code == .frameTooLarge)
    }

    @Test(arguments: [1_100_000, 2_100_000, 5_000_000])
    func sendsAFailureInPlaceOfAReplyOverTheLimit(length: Int) throws {
        var result = WireSamples.result
        result.accessToken = Secret(String(repeating: "x", count: length))
        let frame = Reply(id: 9, .acquireTokenSilent(result)).frame()
        let reply = try Reply(decoding: frame.dropFirst(FrameDecoder.headerLength))
        #expect(reply.id == 9)
        guard case .failure(let error) = reply.body else {
            Issue.record("not a failure")
            return
        }
        #expect(error.code == .frameTooLarge)
    }

    @Test func carriesAFullPageOfAccounts() throws {
        let accounts = Array(repeating: WireSamples.account, count: WireLimits.listItems)
        let reply = Reply(id: 1, .listAccounts(ListAccounts.Reply(accounts: accounts)))
        #expect(try Reply(decoding: reply.frame().dropFirst(FrameDecoder.headerLength)) == reply)
    }

    @Test func carriesTheLongestListOfTheShortestTexts() throws {
        var request = WireSamples.silent
        request.parameters.capabilities = (0..<WireLimits.listItems).map { String($0, radix: 36) }
        let sent = Request(id: 1, .acquireTokenSilent(request))
        #expect(Request(decoding: try sent.frame().dropFirst(FrameDecoder.headerLength)) == sent)
    }
}
