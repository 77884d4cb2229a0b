internal import TestSupport
internal import Testing
internal import TokenModel

@Suite(.bounded) struct CloudDirectoryTests {
    @Test func knowsThePublicCloudsNames() {
        let directory = CloudDirectory()
        let cloud = directory.cloud(of: "sts.windows.net")
        #expect(cloud.preferredNetwork == "login.microsoftonline.com")
        #expect(cloud.preferredCache == "login.windows.net")
        #expect(directory.sameCloud("login.microsoft.com", "login.microsoftonline.com"))
        #expect(!directory.sameCloud("login.microsoftonline.us", "login.microsoftonline.com"))
    }

    /// Under one of these names, a library may have saved what an app asks for by the other.
    @Test(arguments: [
        ("login.microsoftonline.com", "login.windows.net"), ("login.microsoftonline.com", "login.microsoft.com"),
        ("login.microsoftonline.com", "sts.windows.net"), ("login.microsoftonline.us", "login.usgovcloudapi.net"),
        ("login.partner.microsoftonline.cn", "login.chinacloudapi.cn"),
        ("login.windows-ppe.net", "sts.windows-ppe.net"), ("login.windows-ppe.net", "login.microsoft-ppe.com"),
    ])
    func knowsTheOtherNamesOfEachCloud(preferred: String, other: String) {
        let directory = CloudDirectory()
        #expect(CloudDirectory.isBuiltIn(other) && directory.sameCloud(preferred, other))
        #expect(directory.cloud(of: other).preferredNetwork == preferred)
    }

    @Test func namesNoHostTwiceAmongTheBuiltInClouds() {
        let hosts = CloudDirectory.builtIn.flatMap(\.aliases)
        #expect(Set(hosts).count == hosts.count)
        for cloud in CloudDirectory.builtIn {
            #expect(cloud.aliases.contains(cloud.preferredNetwork))
            #expect(cloud.aliases.contains(cloud.preferredCache))
            #expect(cloud.aliases.allSatisfy { $0 == $0.lowercased() })
        }
    }

    @Test func takesAnUnknownHostForACloudOfItsOwn() {
        let directory = CloudDirectory()
        #expect(!directory.knows("login.example.com"))
        #expect(directory.cloud(of: "login.example.com").aliases == ["login.example.com"])
        #expect(directory.sameCloud("login.example.com", "login.example.com"))
        #expect(!directory.sameCloud("login.example.com", "login.example.org"))
    }

    /// Other libraries save a host without its port. Two ports may be two providers.
    @Test func takesTwoPortsOfAHostForTwoClouds() {
        let directory = CloudDirectory()
        #expect(directory.sameCloud("login.example.com", "login.example.com:8443"))
        #expect(directory.sameCloud("login.example.com:8443", "login.example.com"))
        #expect(!directory.sameCloud("login.example.com:8443", "login.example.com:9443"))
        #expect(!directory.sameCloud("login.example.com:8443", "login.example.org"))
    }

    // Mirrors: MSIDAadAuthorityCacheTests testCacheAliasesForAuthority_withDifferentPreferredCache_shouldReturnArrayInProperOrder
    @Test func looksFirstUnderThePreferredNameThenUnderTheOneGiven() {
        let directory = CloudDirectory()
        #expect(
            directory.cacheAliases(of: "sts.windows.net") == [
                "login.windows.net", "sts.windows.net", "login.microsoftonline.com", "login.microsoft.com",
            ])
        #expect(directory.cacheAliases(of: "login.example.com") == ["login.example.com"])
    }

    @Test func learnsACloudOnce() {
        var directory = CloudDirectory()
        let cloud = Self.cloud("login.example.com", "sts.example.com")
        let isNews = directory.learn([cloud], about: "login.example.com")
        #expect(isNews)
        #expect(directory.sameCloud("login.example.com", "sts.example.com"))
        #expect(directory.learnt == [cloud])
        let isNewsAgain = directory.learn([cloud], about: "sts.example.com")
        #expect(!isNewsAgain)
    }

    @Test func remembersAHostThatDiscoverySaysNothingAbout() {
        var directory = CloudDirectory()
        let isNews = directory.learn([], about: "login.example.com")
        #expect(isNews)
        #expect(directory.knows("login.example.com"))
        let isNewsAgain = directory.learn([], about: "login.example.com")
        #expect(!isNewsAgain)
    }

    /// Otherwise a hostile provider could receive another cloud's refresh tokens.
    @Test(arguments: [
        Self.cloud("evil.example.com", "login.microsoftonline.com"),
        Cloud(
            aliases: ["evil.example.com"], preferredNetwork: "login.microsoftonline.com",
            preferredCache: "evil.example.com"),
        Cloud(aliases: ["evil.example.com"], preferredNetwork: "evil.example.com", preferredCache: "login.windows.net"),
    ])
    func doesNotLetADiscoveryClaimARealCloudsHost(hostile: Cloud) {
        var directory = CloudDirectory()
        _ = directory.learn([hostile], about: "evil.example.com")
        for host in CloudDirectory.builtIn.flatMap(\.aliases) {
            #expect(!directory.sameCloud(host, "evil.example.com"))
            #expect(!directory.sameCloud("evil.example.com", host))
        }
        #expect(
            directory.cloud(of: "evil.example.com")
                == Cloud(
                    aliases: ["evil.example.com"], preferredNetwork: "evil.example.com",
                    preferredCache: "evil.example.com"))
    }

    @Test func learnsNothingOfThisMachineThatIsToBeStored() {
        var directory = CloudDirectory()
        let local = "127.0.0.1:8080"
        _ = directory.learn([Self.cloud(local, "accounts.example.com")], about: local)
        #expect(directory.knows(local))
        #expect(!directory.knows("accounts.example.com"))
        #expect(directory.learnt.isEmpty)
        _ = directory.learn([Self.cloud("login.example.com", "localhost")], about: "login.example.com")
        #expect(!directory.sameCloud("login.example.com", "localhost"))
    }

    @Test func doesNotLetALaterDiscoveryClaimALearntHost() {
        var directory = CloudDirectory()
        _ = directory.learn([Self.cloud("login.example.com")], about: "login.example.com")
        _ = directory.learn([Self.cloud("evil.example.org", "login.example.com")], about: "evil.example.org")
        #expect(!directory.sameCloud("login.example.com", "evil.example.org"))
    }

    typealias Cloud = CloudDirectory.Cloud

    static func cloud(_ hosts: String...) -> Cloud {
        Cloud(aliases: hosts, preferredNetwork: hosts[0], preferredCache: hosts[0])
    }
}
