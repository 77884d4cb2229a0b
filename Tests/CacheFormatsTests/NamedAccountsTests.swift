internal import CacheTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import CacheFormats
@testable internal import TokenCache

/// The account of an entry that is known by its username.
@Suite(.bounded) struct NamedAccountsTests {
    private static let names = ["u@contoso.com", "v@contoso.com", ""]
    private static let hosts = ["login.microsoftonline.com", "login.windows.net", "login.chinacloudapi.cn"]
    private static let objects = ["o1", "o2", "o3"]
    private static let tenants = ["t1", "t2", "9188040d-6c67-4c5b-b112-36a304b66dad"]

    /// Looking at all accounts of the username for each user of the file, and each entry, would take an hour.
    @Test func findsAccountsOfOneUsernameInLinearTime() async throws {
        try await offPool {
            var cache = CredentialCache()
            let accounts = (0..<20_000).map { number in
                AccountRecord(
                    homeAccountID: "o\(number).\(CacheBuilder.tenant)", environment: Self.hosts[0],
                    realm: CacheBuilder.tenant,
                    localAccountID: "o\(number)", username: Self.names[0], authorityType: AccountRecord.entraType,
                    source: AccountRecord.msalSource)
            }
            cache.apply(accounts.map { .save(.account($0)) }, in: .standard)
            let token = #"""
                "_authority": "https://\#(Self.hosts[0])/common", "_clientId": "app", "userId": "\#(Self.names[0])", "isMRRT": true
                """#
            let entries = (0..<150).flatMap { number in
                [
                    #"{\#(token), "refreshToken": "r\#(number)"}"#,
                    #"{\#(token), "refreshToken": "s", "tenantId": "x\#(number)", "oid": "y"}"#,
                ]
            }
            let file = "[\(entries.joined(separator: ","))]"
            let report = try cache.merge(Array(file.utf8), .adalJSON).report
            #expect(report.counts == [1, 1, 0, 0])
        }
    }

    /// The index finds what a search of the cache does, after every change that an import makes.
    @Test func findsTheAccountsThatASearchFinds() async throws {
        try await inBackground {
            var seed = TestSeed()
            for _ in 0..<20 {
                var cache = CredentialCache()
                for _ in 0..<6 { Self.saveAccount(in: &cache, &seed) }
                var index = NamedAccounts(try Self.fileWithNames(), in: cache.partition(.standard))
                for round in 0..<40 {
                    Self.compare(index, with: cache, "round \(round), \(seed)")
                    let (record, old) = Self.saveAccount(in: &cache, &seed)
                    index.add(record, replacing: old, among: cache.partition(.standard)[record.account])
                }
            }
        }
    }

    /// Another file needs no index.
    @Test func indexesTheUsernamesOfTheFileOnly() throws {
        let other = try Fixture(path: "msal-json/python_1.39.0_basic.json", format: .msalJSON).read()
        let index = NamedAccounts(other, in: CredentialCache().partition(.standard))
        #expect(index.isEmpty)
        #expect(!NamedAccounts(try Self.fileWithNames(), in: CredentialCache().partition(.standard)).isEmpty)
    }

    /// A file with an entry of each name that says nothing else of its account.
    private static func fileWithNames() throws -> ForeignCache {
        let entries = names.map { name in
            let user = name.isEmpty ? "" : #""userId": "\#(name)","#
            return #"{\#(user) "_authority": "https://\#(hosts[0])/common", "_clientId": "app", "refreshToken": "r"}"#
        }
        return try Fixture.read(Array("[\(entries.joined(separator: ","))]".utf8), .adalJSON)
    }

    /// Saves a random account record as an import does, which adds its values to those of an earlier record.
    @discardableResult
    private static func saveAccount(
        in cache: inout CredentialCache, _ seed: inout TestSeed
    ) -> (record: AccountRecord, old: AccountRecord?) {
        func one(of texts: [String], _ seed: inout TestSeed) -> String { texts.randomElement(using: &seed) ?? "" }
        var record = AccountRecord(
            homeAccountID: nil, environment: one(of: hosts, &seed), realm: one(of: tenants, &seed), localAccountID: nil,
            username: one(of: names, &seed), authorityType: AccountRecord.entraType, source: AccountRecord.adalSource)
        if Int.random(in: 0..<4, using: &seed) > 0 {
            record.homeAccountID = "\(one(of: objects, &seed)).\(one(of: tenants, &seed))"
        }
        if Bool.random(using: &seed) { record.localAccountID = one(of: objects, &seed) }
        if Bool.random(using: &seed) { record.adalUserID = one(of: names, &seed) }
        let old = cache.partition(.standard)[record.account].accounts[record.key]
        if let old {
            if !old.username.isEmpty { record.username = old.username }
            record.localAccountID = old.localAccountID ?? record.localAccountID
            record.adalUserID = old.adalUserID ?? record.adalUserID
        }
        cache.apply([.save(.account(record))], in: .standard)
        return (record, old)
    }

    private static func compare(_ index: NamedAccounts, with cache: CredentialCache, _ round: String) {
        let partition = cache.partition(.standard)
        for name in names {
            let accounts = partition.accounts(named: name, of: .microsoft)
            for (tenant, object) in tenants.flatMap({ tenant in objects.map { (tenant, $0) } }) {
                let user = ForeignCache.DirectoryUser(tenantID: tenant, objectID: object)
                let expected = accounts.first { account in
                    account.homeAccountID != nil
                        && (account.homeAccountID?.text == "\(object).\(tenant)"
                            || partition[account].accounts.values.contains {
                                $0.realm == tenant && $0.localAccountID == object
                            })
                }
                let found = index.identifier(of: user, named: name, .microsoft)
                #expect(found == expected?.homeAccountID, "\(round)")
            }
            for host in hosts {
                let known = accounts.filter { !$0.isPersonal && partition[$0].isKnown(at: host, cache.clouds) }
                let expected = known.count == 1 ? known.first?.homeAccountID : nil
                let found = index.soleIdentifier(named: name, of: .microsoft, at: host, cache.clouds)
                #expect(found == expected, "\(round)")
            }
        }
    }
}
