internal import AccessPolicy
internal import TestSupport
internal import Testing
internal import TokenCache
internal import TokenModel
internal import TokenWire

@testable internal import TokenAgent

/// The kept replies of cache hits: what discards them, and what they take of memory. `RepeatedHitTests` compares them with decisions.
@Suite(.bounded) struct KeptRepliesTests {
    private let parts = Parts()

    /// A request of a user that differs from others by its scope.
    private func frame(_ user: String, _ scope: Int = 0, _ parameters: TokenParameters? = nil) throws -> [UInt8] {
        let parameters = parameters ?? .sample(["Scope.\(scope)"])
        let request = AcquireTokenSilent.sample(user, parameters, force: false)
        return Array(try RequestFrame.encode(request, id: 1).dropFirst(FrameDecoder.headerLength))
    }

    @Test func answersRepetitionsWithinTheTimesOnly() async throws {
        let frame = try frame("alice")
        try await parts.keep(frame, "alice", times: 100...200)
        #expect(await parts.isKept(frame, at: 100))
        #expect(await parts.isKept(frame, at: 200))
        #expect(await !parts.isKept(frame, at: 99))
        #expect(await !parts.isKept(frame, at: 201))
    }

    @Test func survivesChangesOfOtherAccountsAndOfOtherSharingGroups() async throws {
        let frame = try frame("alice")
        try await parts.keep(frame, "alice")
        let group = try #require(SharingGroup("other"))
        try await parts.signIn("bob", "1").value()
        try await parts.signIn("alice", "1", .sample(group: group)).value()
        try await parts.signOut("bob").value()
        #expect(await parts.isKept(frame))
    }

    @Test func isDiscardedByEachChangeOfTheAccount() async throws {
        let frame = try frame("alice")
        try await parts.keep(frame, "alice")
        try await parts.signIn("alice", "1").value()
        #expect(await !parts.isKept(frame))
        try await parts.keep(frame, "alice")
        // In memory before the disk, as the removal is.
        let removal = await parts.signOut("alice")
        #expect(await !parts.isKept(frame))
        try await removal.value()
    }

    /// Which account a username refers to may change with any account, and with the families of apps.
    @Test func isDiscardedByAnyChangeOfItsSharingGroupIfTheRequestNamesNoIdentifier() async throws {
        let (frame, other) = (try frame("alice"), try frame("bob"))
        try await parts.keep(frame, nil)
        let group = try #require(SharingGroup("other"))
        try await parts.signIn("carol", "1", .sample(group: group)).value()
        #expect(await parts.isKept(frame))
        try await parts.keep(other, "bob")
        try await parts.signIn("carol", "1").value()
        #expect(await !parts.isKept(frame))
        #expect(await parts.isKept(other))
        try await parts.keep(frame, nil)
        await parts.saveApp()
        #expect(await !parts.isKept(frame))
    }

    @Test func isDiscardedWhenTheCacheIsReplaced() async throws {
        let frame = try frame("alice")
        try await parts.keep(frame, "alice")
        await parts.replaceCache()
        #expect(await !parts.isKept(frame))
        #expect(await parts.keptSize == 0)
    }

    @Test func isDiscardedWhenCloudsAreLearnt() async throws {
        let frame = try frame("alice")
        try await parts.keep(frame, "alice")
        let resolving = try await parts.resolving("https://login.example.com/common")
        await parts.provider.discoveries.next().answer([
            CloudDirectory.Cloud(
                aliases: ["login.example.com", "sts.example.com"], preferredNetwork: "sts.example.com",
                preferredCache: "login.example.com")
        ])
        try await resolving.value()
        #expect(await !parts.isKept(frame))
    }

    @Test func isDiscardedWhenItsHostIsKnownAsNoAuthority() async throws {
        let (frame, other) = (try frame("alice"), try frame("bob"))
        try await parts.keep(frame, "alice", host: "login.example.com")
        try await parts.keep(other, "bob")
        let resolving = try await parts.resolving("https://login.example.com/common")
        await parts.provider.discoveries.next().fail(TokenError(.authorityValidation, "no such authority"))
        _ = try await resolving.error()
        #expect(await !parts.isKept(frame))
        #expect(await parts.isKept(other))
    }

    // MARK: Repetitions of a connection's last request

    @Test func findsTheReplyToTheLastRequestAgain() throws {
        let replies = KeptReplies()
        let (frame, other) = (try frame("alice", 0), try frame("alice", 1))
        replies.keep(try reply(0), to: frame[...], .sample("alice", times: 100...200), of: .process(1))
        replies.keep(try reply(1), to: other[...], .sample("alice"), of: .process(1))
        let last = try #require(replies.hit(frame[...], at: 100))
        let again = try #require(replies.hit(frame[...], at: 200, after: last))
        #expect(last.isRepeated(by: again))
        #expect(replies.hit(frame[...], at: 201, after: last) == nil)
        let next = try #require(replies.hit(other[...], at: 100, after: last))
        #expect(!last.isRepeated(by: next))
    }

    @Test func findsNoDiscardedReplyAgain() throws {
        let replies = KeptReplies()
        let frame = try frame("alice")
        for discard in [AlteredAnswers.all, .ofGroup(.standard), .ofHost("login.microsoftonline.com")] {
            replies.keep(try reply(0), to: frame[...], .sample("alice"), of: .process(1))
            let last = try #require(replies.hit(frame[...], at: 0))
            #expect(last.reply(to: frame[...]) != nil)
            replies.discard(discard)
            #expect(last.reply(to: frame[...]) == nil)
            // The reply to another request, without which nothing would be searched.
            replies.keep(try reply(1), to: try self.frame("bob")[...], .sample("bob"), of: .process(1))
            #expect(replies.hit(frame[...], at: 0, after: last) == nil)
        }
    }

    @Test func findsTheReplyThatHasTakenThePlaceOfAnother() throws {
        let replies = KeptReplies()
        let frame = try frame("alice")
        replies.keep(try reply(0), to: frame[...], .sample("alice"), of: .process(1))
        let last = try #require(replies.hit(frame[...], at: 0))
        replies.keep(try reply(1), to: frame[...], .sample("alice"), of: .process(1))
        let next = try #require(replies.hit(frame[...], at: 0, after: last))
        #expect(!last.isRepeated(by: next) && next.reply(to: frame[...]) != nil && last.reply(to: frame[...]) == nil)
    }

    // MARK: Memory

    @Test func keepsNoMoreThanItsLimit() throws {
        let replies = KeptReplies(limit: 64 * 1024)
        for number in 0..<200 {
            let frame = try frame("alice", number)
            replies.keep(try reply(number), to: frame[...], .sample("alice"), of: .process(1))
            #expect(replies.size <= 64 * 1024)
            #expect(replies.hit(frame[...], at: 0) != nil)
        }
        #expect(replies.size > 48 * 1024)
    }

    @Test func keepsHalfAMebibyteByDefault() throws {
        let replies = KeptReplies()
        for number in 0..<400 {
            let frame = try frame("alice", number)
            replies.keep(try reply(number), to: frame[...], .sample("alice"), of: .process(1))
            #expect(replies.size <= 512 << 10)
        }
        #expect(replies.size > 500 << 10)
    }

    @Test func keepsNoLongReplyAndNoLongRequest() throws {
        let replies = KeptReplies()
        let long = try frame("alice", 0, .sample((0..<400).map { "Scope.Number.\($0)" }))
        replies.keep(try reply(0), to: long[...], .sample("alice"), of: .process(1))
        replies.keep(try reply(0, length: 100_000), to: try frame("alice")[...], .sample("alice"), of: .process(1))
        #expect(replies.size == 0)
    }

    /// Whatever another process asks for, a process that keeps little keeps it.
    @Test func losesNothingToAProcessThatKeepsMore() throws {
        let replies = KeptReplies(limit: 64 * 1024)
        let own = try (0..<5).map { try frame("alice", $0) }
        for frame in own { replies.keep(try reply(0), to: frame[...], .sample("alice"), of: .process(1)) }
        for number in 100..<1_000 {
            replies.keep(try reply(number), to: try frame("alice", number)[...], .sample("alice"), of: .process(2))
        }
        for frame in own { #expect(replies.hit(frame[...], at: 0) != nil) }
    }

    /// For a confined peer, an account may be the only one that is none for the user's own processes.
    @Test(arguments: [false, true]) func answersEitherConfinedPeersOrOthers(isConfined: Bool) throws {
        let (replies, frame) = (KeptReplies(), try frame("alice"))
        var entry = KeptReplies.Entry.sample(nil)
        entry.isConfined = isConfined
        replies.keep(try reply(0), to: frame[...], entry, of: .process(1))
        #expect(replies.hit(frame[...], at: 0, isConfined: isConfined) != nil)
        #expect(replies.hit(frame[...], at: 0, isConfined: !isConfined) == nil)
    }

    @Test func replacesTheRepliesOfEndedProcessesFirst() throws {
        let replies = KeptReplies(limit: 64 * 1024)
        let (ended, running) = (try frame("alice", 0), try frame("alice", 1))
        replies.keep(try reply(0), to: ended[...], .sample("alice"), of: .process(1))
        for number in 1..<6 {
            replies.keep(try reply(number), to: try frame("alice", number)[...], .sample("alice"), of: .process(2))
        }
        replies.disown(.process(1))
        #expect(replies.hit(ended[...], at: 0) != nil)
        for number in 100..<120 {
            replies.keep(try reply(number), to: try frame("alice", number)[...], .sample("alice"), of: .process(3))
        }
        #expect(replies.hit(ended[...], at: 0) == nil)
        #expect(replies.hit(running[...], at: 0) != nil)
    }

    private func reply(_ number: Int, length: Int = 2_000) throws -> [UInt8] {
        Parts.reply("\(number)", length: length)
    }
}

extension KeptReplies.Entry {
    fileprivate static func sample(
        _ user: String?, host: String = "login.microsoftonline.com", times: ClosedRange<Int64> = 0...Int64.max
    ) -> KeptReplies.Entry {
        let request = AcquireTokenSilent.sample(user ?? "nobody")
        return KeptReplies.Entry(
            conditions: KeptReplies.Conditions(
                group: .standard, account: user.map { .sample($0) }, host: host, times: times),
            policyRequest: PolicyRequest(name: "acquire_token_silent", subject: request.subject), event: nil)
    }
}

extension Parts {
    /// A reply with an access token of a length.
    fileprivate static func reply(_ token: String, length: Int = 100) -> [UInt8] {
        let result = TokenResult(
            accessToken: Secret(token + String(repeating: "x", count: length)), tokenType: "Bearer", expiresOn: 0,
            extendedExpiresOn: nil, scopes: [], idToken: nil,
            account: Account(homeAccountID: nil, username: nil, environment: "", source: .msal), tenantProfile: nil,
            authority: "", correlationID: CorrelationID(), isFromCache: true)
        return ReplyFrame.encode(.success(result), to: AcquireTokenSilent.self, id: 1)
    }

    fileprivate func keep(
        _ frame: [UInt8], _ user: String?, host: String = "login.microsoftonline.com",
        times: ClosedRange<Int64> = 0...Int64.max
    ) throws {
        core.replies.keep(
            Self.reply(user ?? ""), to: frame[...], .sample(user, host: host, times: times), of: .process(1))
        #expect(core.replies.hit(frame[...], at: times.lowerBound) != nil)
    }

    fileprivate func isKept(_ frame: [UInt8], at time: Int64 = 0) -> Bool {
        core.replies.hit(frame[...], at: time) != nil
    }

    fileprivate var keptSize: Int { core.replies.size }

    fileprivate func saveApp() {
        let app = AppMetadataRecord(clientID: "app", environment: "login.windows.net", familyID: "1")
        core.memory.apply([.save(.appMetadata(app))], in: .standard)
    }

    func replaceCache() { core.memory.replace(with: core.memory.cache) }

    func resolving(_ url: String) throws -> Pending<Authority> {
        let parameters = TokenParameters.sample(authority: try Authority(url))
        return start { parts async throws(TokenError) in
            try await parts.core.authorities.resolve(parameters.authority, parameters, username: nil)
        }
    }
}
