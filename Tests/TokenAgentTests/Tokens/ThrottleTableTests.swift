internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent
@testable internal import TokenCache

/// What recorded errors may keep in memory: an app with a provider of its own has as many of them as it likes.
@Suite(.bounded) struct ThrottleTableTests {
    @Test func keepsFewErrorsWithTokens() throws {
        let table = ThrottleTable()
        var error = TokenError(.declinedScopes, "fewer scopes")
        error.details.partialResult = Self.result
        let keys = try (0..<200).map { try Self.key($0) }
        for (number, key) in keys.enumerated() { _ = table.record(error, for: key, at: Int64(number / 4)) }
        let kept = keys.filter { table.error(for: $0, at: 100)?.details.partialResult != nil }
        #expect(kept.count == 32)
        #expect(kept == keys.filter(kept.contains).suffix(32), "the latest ones")
    }

    /// As in MSAL. An app may ask for any number of scopes.
    @Test func keepsTheErrorsOf1000Requests() throws {
        let table = ThrottleTable()
        let keys = try (0..<1010).map { try Self.key($0) }
        for (number, key) in keys.enumerated() {
            _ = table.record(TokenError(.interactionRequired, "sign in"), for: key, at: Int64(number / 10))
        }
        let kept = keys.filter { table.error(for: $0, at: 110) != nil }
        #expect(kept == keys.suffix(1000), "the latest ones")
    }

    /// Of an overloaded server, only the scopes of the request are recorded.
    @Test(arguments: [false, true]) func keepsFewErrorsOfLongRequests(isOverload: Bool) throws {
        let table = ThrottleTable()
        var error = TokenError(.interactionRequired, "sign in")
        error.details.httpStatus = isOverload ? 503 : 400
        let text = String(repeating: "x", count: 30_000)
        let keys = try (0..<100).map {
            try isOverload ? Self.key($0, scope: text) : Self.key($0, claims: text)
        }
        let short = try Self.key(100)
        for (number, key) in (keys + [short]).enumerated() { _ = table.record(error, for: key, at: Int64(number)) }
        let kept = keys.filter { table.error(for: $0, at: 100) != nil }
        #expect(kept == keys.suffix(34), "the latest ones")
        #expect(table.error(for: short, at: 100) != nil)
    }

    /// The repeated error has changed nothing.
    @Test func repeatsNoChangeOfTheCache() throws {
        let (table, key) = (ThrottleTable(), try Self.key(1))
        var error = TokenError(.declinedScopes, "fewer scopes")
        error.details.hasChangedCache = true
        #expect(table.record(error, for: key, at: 100).details.hasChangedCache)
        #expect(table.error(for: key, at: 110)?.details.hasChangedCache == false)
    }

    @Test(arguments: [100, 60_000]) func keepsLongHeaderFieldsOfNoError(length: Int) throws {
        let table = ThrottleTable()
        var error = TokenError(.serverError, "overloaded")
        error.details.httpStatus = 503
        error.details.httpHeaders = ["Retry-After": "30", "X-Long": String(repeating: "x", count: length)]
        let key = try Self.key(1)
        _ = table.record(error, for: key, at: 100)
        let repeated = table.error(for: key, at: 110)
        #expect(repeated?.details.httpHeaders["Retry-After"] == "30")
        #expect((repeated?.details.httpHeaders["X-Long"] != nil) == (length < 4096))
    }

    /// A value that is neither a number of seconds nor a date is as none.
    @Test(
        arguments: [
            ("99999999999999999999", 3600), ("9223372036854775807", 3600), (" 30 ", 30), ("0", 0), ("-30", 60),
            ("+30", 60),
            ("1.5", 60), ("1 2", 60), ("", 60), ("soon", 60), ("٣", 60),
        ] as [(String, Int64)])
    func waitsForANumberOfSeconds(field: String, seconds: Int64) throws {
        let table = ThrottleTable()
        var error = TokenError(.unhandledHTTPResponse, "overloaded")
        error.details.httpHeaders = ["retry-after": field]
        error.details.httpStatus = 503
        let key = try Self.key(1)
        #expect(table.record(error, for: key, at: 100).details.throttledUntil == 100 + seconds)
        // Another status is that of an overloaded server only if it says when to come back.
        error.details.httpStatus = 404
        let asked = table.record(error, for: key, at: 200).details.throttledUntil
        #expect(asked == (seconds == 60 ? nil : 200 + seconds))
    }

    /// The server asks to wait for two minutes. The clock of this machine is right, an hour slow and an hour fast.
    @Test(arguments: [784_111_777, 784_108_177, 784_115_377] as [Int64])
    func waitsUntilADateOfTheServersClock(now: Int64) throws {
        let table = ThrottleTable()
        var error = TokenError(.unhandledHTTPResponse, "overloaded")
        error.details.httpStatus = 503
        error.details.httpHeaders = [
            "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:51:37 GMT",
        ]
        let key = try Self.key(1)
        #expect(table.record(error, for: key, at: now).details.throttledUntil == now + 120)
    }

    /// The next request succeeds as soon as the user has signed in at the captive portal.
    @Test(arguments: [(503, true), (511, false)] as [(Int32, Bool)])
    func recordsNoResponseOfACaptivePortal(status: Int32, isRecorded: Bool) throws {
        let table = ThrottleTable()
        var error = TokenError(.unhandledHTTPResponse, "no answer of the provider")
        error.details.httpStatus = status
        error.details.httpHeaders = ["Retry-After": "3600"]
        let key = try Self.key(1)
        let reported = table.record(error, for: key, at: 100)
        #expect((reported.details.throttledUntil == 3700) == isRecorded)
        #expect((table.error(for: key, at: 110) != nil) == isRecorded)
    }

    /// A sign-in may end a refusal. The server is as busy as before.
    @Test func keepsAnOverloadAfterASignIn() throws {
        let table = ThrottleTable()
        let (busy, refused) = (try Self.key(1), try Self.key(2))
        var overload = TokenError(.unhandledHTTPResponse, "busy")
        overload.details.httpStatus = 503
        _ = table.record(overload, for: busy, at: 100)
        _ = table.record(TokenError(.interactionRequired, "sign in"), for: refused, at: 100)
        table.removeRefusals()
        #expect(table.error(for: busy, at: 110) != nil)
        #expect(table.error(for: refused, at: 110) == nil)
    }

    @Test func recordsNoErrorOfATokenEndpointThatWasNotAsked() throws {
        let table = ThrottleTable()
        let error = TokenError(.interactionRequired, "it did not issue the refresh token", reason: .authority)
        let key = try Self.key(1)
        #expect(table.record(error, for: key, at: 100).details.throttledUntil == nil)
        #expect(table.error(for: key, at: 110) == nil)
    }

    @Test func returnsARefusedAuthorityToNoRequestWithoutValidation() throws {
        let table = ThrottleTable()
        var error = TokenError(.authorityValidation, "no such authority")
        error.details.oauthError = "invalid_instance"
        let (validating, other) = (try Self.key(1), try Self.key(1, validates: false))
        _ = table.record(error, for: validating, at: 100)
        #expect(table.error(for: validating, at: 110)?.code == .authorityValidation)
        #expect(table.error(for: other, at: 110) == nil)
    }

    private static func key(
        _ number: Int, scope: String = "Scope", claims: String? = nil, validates: Bool = true
    ) throws -> RedemptionKey {
        let app = try #require(CacheBuilder.app)
        let token = RefreshTokenRecord(
            account: AccountKey(issuer: .microsoft, homeAccountID: HomeAccountID("alice.tid"), username: nil),
            environment: "login.windows.net", clientID: app, familyID: nil,
            secret: Secret("rt"),
            restriction: nil, binding: nil, obtainedOn: nil)
        var parameters = TokenParameters(
            clientID: app, sharingGroup: .standard, authority: .common, version: .v2,
            scopes: ScopeSet(["\(scope).\(number)"]), claims: claims)
        parameters.validatesAuthority = validates
        return try #require(
            RedemptionKey(RedemptionPlan(account: token.account, authority: .common, candidates: [token]), parameters))
    }

    private static let result = TokenResult(
        accessToken: Secret("at"), tokenType: "Bearer", expiresOn: 1000, extendedExpiresOn: nil, scopes: [],
        idToken: nil,
        account: Account(homeAccountID: nil, username: "alice", environment: "login.windows.net", source: .msal),
        tenantProfile: nil, authority: Authority.common.url, correlationID: CorrelationID(), isFromCache: false)
}
