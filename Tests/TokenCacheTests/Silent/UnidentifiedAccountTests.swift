internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenCache

/// How long a hit holds for a request that names its account by username, or names none.
@Suite(.bounded) struct UnidentifiedAccountTests {
    private static let resource = "https://graph.windows.net"
    private static let tenants = [CacheBuilder.tenant, "7a1e0000-0000-4000-8000-000000000002"]

    /// Whatever is in the cache, a request has the same result at every time of those that the decision names.
    @Test func hasTheSameResultAtEachOfItsTimes() throws {
        var seed = TestSeed()
        var hits = 0
        for _ in 0..<300 {
            var builder = CacheBuilder()
            let start = builder.now
            // The clock is set forward and back between sign-ins, so that some tokens are of the future.
            for _ in 0..<Int.random(in: 1...5, using: &seed) {
                let tenant = Self.tenants.randomElement(using: &seed) ?? ""
                try builder.signIn(
                    ["alice", "alice", "bob"].randomElement(using: &seed) ?? "",
                    builder.parameters(resource: Bool.random(using: &seed) ? Self.resource : nil),
                    expiresIn: Int64.random(in: 100...4000, using: &seed),
                    refreshIn: Bool.random(using: &seed) ? Int64.random(in: 50...4000, using: &seed) : nil,
                    tenant: tenant, homeTenant: tenant)
                builder.now = start + Int64.random(in: -3000...3000, using: &seed)
            }
            for name in ["alice@contoso.com", "bob@contoso.com", nil] {
                for resource in [Self.resource, nil] {
                    let request = AcquireTokenSilent(
                        parameters: try builder.parameters(resource: resource),
                        account: AccountReference(username: name),
                        expirationBuffer: [0, 300].randomElement(using: &seed) ?? 0)
                    guard case .use(let result, let times?) = builder.cache.decide(request, now: builder.now) else {
                        continue
                    }
                    hits += 1
                    var later = [builder.now, times.upperBound]
                    for _ in 0..<20 { later.append(Int64.random(in: builder.now...times.upperBound, using: &seed)) }
                    for time in later {
                        guard case .use(let again, _) = builder.cache.decide(request, now: time) else {
                            Issue.record(
                                "no hit at \(time - builder.now) of \(times.upperBound - builder.now); \(seed)")
                            continue
                        }
                        #expect(again == result, "\(seed)")
                    }
                }
            }
        }
        #expect(hits > 100, "\(hits) hits; \(seed)")
    }

    @Test func isNotCertainIfAnotherAccountHasATokenOfTheFuture() throws {
        var builder = CacheBuilder()
        let parameters = try builder.parameters(resource: Self.resource)
        try builder.signIn("alice", parameters, tenant: Self.tenants[1], homeTenant: Self.tenants[1])
        let saved = builder.now
        builder.now -= 600
        try builder.signIn("alice", parameters)
        let named = AccountReference(username: "alice@contoso.com")
        guard case .use(_, let times) = builder.decide(parameters, named) else {
            Issue.record("expected a hit")
            return
        }
        #expect(times == nil)
        builder.now = saved
        #expect(builder.decide(parameters, named) == .ambiguousAccount)
    }
}
