/// Which hosts are names of one and the same cloud, and under which of them to save and to ask.
///
/// Microsoft's clouds are built in, so that a cached token needs no network; others are learnt by instance discovery.
package struct CloudDirectory: Sendable, Equatable {
    /// One cloud: its names, and which of them to use for what.
    package struct Cloud: Sendable, Equatable, Codable {
        /// Every host that stands for this cloud, in lower case.
        package var aliases: [String]
        /// The host to send requests to.
        package var preferredNetwork: String
        /// The host that credentials are saved under.
        package var preferredCache: String

        package init(aliases: [String], preferredNetwork: String, preferredCache: String) {
            self.aliases = aliases
            self.preferredNetwork = preferredNetwork
            self.preferredCache = preferredCache
        }
    }

    /// The clouds learnt since, in the order learnt.
    package private(set) var learnt: [Cloud] = []
    private var byHost: [String: Cloud]

    /// Knows Microsoft's clouds.
    package init() {
        byHost = Self.index(Self.builtIn)
    }

    /// The cloud a host belongs to; a host nobody has heard of is a cloud of its own.
    package func cloud(of environment: String) -> Cloud {
        byHost[environment]
            ?? Cloud(aliases: [environment], preferredNetwork: environment, preferredCache: environment)
    }

    /// Whether the host's aliases are known, built in or learnt.
    package func knows(_ environment: String) -> Bool { byHost[environment] != nil }

    /// Whether two hosts are names of one cloud.
    package func sameCloud(_ left: String, _ right: String) -> Bool {
        left == right || cloud(of: left).aliases.contains(right) || Self.sameHost(left, right)
    }

    /// Most of Microsoft's libraries drop the port when they save: a host without one stands for that host at any.
    private static func sameHost(_ left: String, _ right: String) -> Bool {
        let (leftHost, rightHost) = (URLParts.host(ofEnvironment: left), URLParts.host(ofEnvironment: right))
        return leftHost == rightHost && (left == leftHost || right == rightHost)
    }

    /// The names to look for credentials under, best first: the one they are saved under, the one asked for, the others.
    package func cacheAliases(of environment: String) -> [String] {
        let cloud = cloud(of: environment)
        let host = URLParts.host(ofEnvironment: environment)
        var seen = Set<String>()
        return ([cloud.preferredCache, environment] + cloud.aliases + [host]).filter { seen.insert($0).inserted }
    }

    /// Whether the host is one of Microsoft's own clouds.
    package static func isBuiltIn(_ environment: String) -> Bool { builtInHosts.contains(environment) }

    private static let builtInHosts = Set(builtIn.flatMap(\.aliases))

    /// Learns what instance discovery of `environment` said, and returns whether that was news.
    ///
    /// Only what names a host that is nobody's yet is believed: otherwise a hostile provider could declare itself an
    /// alias of a real cloud and be sent that cloud's refresh tokens.
    package mutating func learn(_ clouds: [Cloud], from environment: String) -> Bool {
        var news = false
        for cloud in clouds {
            let hosts = Set(cloud.aliases + [cloud.preferredNetwork, cloud.preferredCache])
            guard hosts.allSatisfy({ byHost[$0] == nil }) else { continue }
            learnt.append(cloud)
            for host in hosts { byHost[host] = cloud }
            news = true
        }
        guard byHost[environment] == nil else { return news }
        let own = cloud(of: environment)
        learnt.append(own)
        byHost[environment] = own
        return true
    }

    private static func index(_ clouds: [Cloud]) -> [String: Cloud] {
        var index: [String: Cloud] = [:]
        for cloud in clouds {
            for host in cloud.aliases { index[host] = cloud }
        }
        return index
    }

    private static func alone(_ host: String) -> Cloud {
        Cloud(aliases: [host], preferredNetwork: host, preferredCache: host)
    }

    /// Microsoft's clouds, the same sets that Microsoft's own libraries build in.
    package static let builtIn: [Cloud] = [
        Cloud(
            aliases: [
                "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net",
            ],
            preferredNetwork: "login.microsoftonline.com", preferredCache: "login.windows.net"),
        Cloud(
            aliases: ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
            preferredNetwork: "login.partner.microsoftonline.cn", preferredCache: "login.partner.microsoftonline.cn"),
        alone("login.microsoftonline.de"),
        Cloud(
            aliases: ["login.microsoftonline.us", "login.usgovcloudapi.net"],
            preferredNetwork: "login.microsoftonline.us", preferredCache: "login.microsoftonline.us"),
        alone("login-us.microsoftonline.com"),
        alone("login.sovcloud-identity.fr"),
        alone("login.sovcloud-identity.de"),
        alone("login.sovcloud-identity.sg"),
        Cloud(
            aliases: ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
            preferredNetwork: "login.windows-ppe.net", preferredCache: "login.windows-ppe.net"),
    ]
}
