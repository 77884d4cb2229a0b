internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// Imports beside a refresh token that was obtained in what is now the future.
@Suite(.bounded) struct SetBackClockTests {
    /// The clock ran ahead when the agent obtained its token, and has been set back since: the token is not the newest because of that, but
    /// it has still replaced those that were redeemed before it.
    @Test func importsARefreshTokenBesideOneThatWasObtainedInTheFuture() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten + 100_000
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-mine")
        let file = Array(UnifiedImportTests.cache(realm: "common").utf8)
        #expect(try builder.cache.merge(file, .msalJSON).report.refreshTokens == 1)
        func held() throws -> [String]? {
            try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true).candidates
        }
        #expect(try held() == ["rt-1"])
        try builder.redeem(for: "rt-2")
        #expect(try builder.cache.merge(file, .msalJSON).report.refreshTokens == 0)
        #expect(try held() == ["rt-2"])
    }

    /// The agent keeps the fingerprints of eight tokens only: the file may have one that was replaced before them.
    @Test func restoresNoTokenThatManyHaveReplacedSinceThoughTheClockWasSetBack() throws {
        var builder = CacheBuilder()
        builder.now = Fixture.whenWritten - 100
        try builder.signIn("alice", builder.parameters(), refreshToken: "rt-0")
        let file = try builder.cache.export(.msalJSON, of: .standard, now: Fixture.whenWritten)
        builder.now += 100_000
        for number in 1...9 {
            builder.now += 1
            try builder.redeem(for: "rt-\(number)")
        }
        #expect(try builder.cache.merge(file, .msalJSON).report.refreshTokens == 0)
        let decision = try builder.decide(builder.parameters(), CacheBuilder.account("alice"), force: true)
        #expect(decision.candidates == ["rt-9"])
    }
}
