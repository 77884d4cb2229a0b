internal import ADALCompat
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// Tokens with an extended lifetime during an outage.
@Suite(.bounded) struct ADALResiliencyTests {
    private static let alice = ADALApp.alice

    private func app(_ f: AgentFixture) -> ADALApp {
        var app = ADALApp(f)
        app.extendedLifetime = true
        return app
    }

    // Mirrors: 24 ADAcquireTokenTests testResilencyTokenReturn
    @Test func returnsAnExpiredTokenWhileTheServerIsDown() async throws {
        try await AgentFixture.with { f in
            let old = try await app(f).signIn()
            let extended = Date(timeIntervalSince1970: TimeInterval(f.clock.now + 7199))
            f.letTokensExpire()
            f.emulator.control.inject(.status(504, grant: .refreshToken))
            let result = try await app(f).silent(Self.alice)
            #expect(result.status == AD_SUCCEEDED)
            #expect(result.error == nil)
            #expect(result.accessToken == old.accessToken)
            #expect(result.extendedLifeTimeToken)
            #expect(result.tokenCacheItem?.expiresOn == extended)
            #expect(!result.multiResourceRefreshToken)
            #expect(f.redemptions == 1)
        }
    }

    // Mirrors: 24 ADAcquireTokenTests testResilencyTokenReturn, for apps that do not allow it, and after a forced refresh
    @Test(arguments: [(false, false), (true, true)])
    func returnsNoExtendedTokenIfDisabledOrForced(isAllowed: Bool, isForced: Bool) async throws {
        try await AgentFixture.with { f in
            var app = app(f)
            app.extendedLifetime = isAllowed
            try await app.signIn()
            f.letTokensExpire()
            f.emulator.control.inject(.status(504, grant: .refreshToken))
            let result = try await app.silent(Self.alice, forceRefresh: isForced)
            #expect(result.status == AD_FAILED)
            #expect(result.error?.domain == ADHTTPErrorCodeDomain)
            #expect(result.error?.code == 504)
            #expect(!result.extendedLifeTimeToken)
        }
    }

    // Mirrors: 24 ADAcquireTokenTests testResilencyTokenReturn, where we differ: being offline counts too
    @Test func returnsAnExpiredTokenWhileTheServerCannotBeReached() async throws {
        try await AgentFixture.with { f in
            let old = try await app(f).signIn()
            f.letTokensExpire()
            f.emulator.control.inject(
                Fault {
                    $0.grant = .refreshToken; $0.drop = true; $0.count = 0
                })
            let result = try await app(f).silent(Self.alice)
            #expect(result.accessToken == old.accessToken)
            #expect(result.extendedLifeTimeToken)
        }
    }

    // Mirrors: 25 ADAcquireTokenTests testResilencyTokenDeletion
    @Test func returnsNoTokenPastItsExtendedLifetime() async throws {
        try await AgentFixture.with { f in
            f.emulator.control.settings.tokenReply = ["refresh_token": nil]
            try await app(f).signIn()
            f.clock.advance(by: 7300)
            let cause = try await expectInputNeeded(app(f).silent(Self.alice))
            #expect(cause == nil)
            #expect(f.redemptions == 0)
        }
    }
}
