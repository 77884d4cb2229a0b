internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenStore

@testable internal import TokenCache

/// While the store is being loaded, the agent answers cache hits from the records of one account. They have to be the hits of the whole
/// cache.
@Suite(.bounded) struct AccountSubsetTests {
    @Test func findsTheHitsOfTheWholeCacheInTheRecordsOfTheAccount() throws {
        var seed = TestSeed()
        var hits = 0
        for _ in 0..<6 {
            let (builder, requests) = try Self.cache(&seed)
            let stored = builder.cache.everything().compactMap { if case .put(let record) = $0 { record } else { nil } }
            for request in requests {
                let identifier = try #require(request.account.homeAccountID)
                var part = CredentialCache()
                part.clouds = builder.cache.clouds
                for record in stored
                where record.account == .account(identifier.text) || record.account == .everyAccount {
                    guard let group = SharingGroup(record.key.group), let read = CacheRecord(record) else { continue }
                    part.load(read, in: group)
                }
                guard case .use(let found, let times) = builder.cache.decide(request, now: builder.now), times != nil
                else {
                    // Without the other records, a token may be used that the whole cache would renew; nothing else.
                    if case .use(let found, let times?) = part.decide(request, now: builder.now) {
                        Issue.record("\(found) during \(times), \(seed)")
                    }
                    continue
                }
                hits += 1
                #expect(part.decide(request, now: builder.now) == .use(found, during: times), "\(seed)")
            }
        }
        #expect(hits > 10)
    }

    private static let users = ["alice", "bob", "carol"]
    private static let authorities = [
        "https://login.microsoftonline.com/common", "https://login.microsoftonline.com/\(CacheBuilder.tenant)",
        "https://login.microsoftonline.us/common", "https://fs.contoso.example/adfs",
    ]

    private static func parameters(_ seed: inout TestSeed, _ builder: CacheBuilder) throws -> TokenParameters {
        try builder.parameters(
            ["app-1", "app-2"].randomElement(using: &seed) ?? "app-1",
            scopes: [["User.Read"], ["User.Read", "Mail.Read"]].randomElement(using: &seed) ?? [],
            authority: authorities.randomElement(using: &seed) ?? authorities[0],
            group: Bool.random(using: &seed) ? .standard : try #require(SharingGroup("other")))
    }

    /// A cache, and requests of which many have hits.
    private static func cache(_ seed: inout TestSeed) throws -> (CacheBuilder, [AcquireTokenSilent]) {
        var builder = CacheBuilder()
        var requests: [AcquireTokenSilent] = []
        for _ in 0..<16 {
            let user = users.randomElement(using: &seed) ?? "alice"
            let parameters = try parameters(&seed, builder)
            requests.append(AcquireTokenSilent(parameters: parameters, account: CacheBuilder.account(user)))
            requests.append(try request(&seed, builder))
            try builder.signIn(
                user, parameters, family: Bool.random(using: &seed) ? "1" : nil,
                expiresIn: Bool.random(using: &seed) ? 3600 : 200,
                refreshIn: Int.random(in: 0..<4, using: &seed) == 0 ? 100 : nil)
            builder.now += 50
            guard Int.random(in: 0..<6, using: &seed) == 0 else { continue }
            builder.remove(
                RemoveAccount(
                    clientID: parameters.clientID, sharingGroup: parameters.sharingGroup,
                    account: CacheBuilder.account(user)))
        }
        return (builder, requests)
    }

    private static func request(_ seed: inout TestSeed, _ builder: CacheBuilder) throws -> AcquireTokenSilent {
        AcquireTokenSilent(
            parameters: try parameters(&seed, builder),
            account: CacheBuilder.account(users.randomElement(using: &seed) ?? "alice"))
    }
}
