/// The clouds and their hosts: which hosts are aliases of one cloud, under which to save credentials and to which to send
/// requests.
///
/// Microsoft's clouds are built in, so that a cached token needs no network request. Others are learnt by instance
/// discovery.
package struct CloudDirectory: Sendable, Equatable {
    /// A cloud and its hosts.
    package struct Cloud: Sendable, Equatable, Codable {
        /// Every host of the cloud, in lower case.
        package var aliases: [String]
        /// The host to send requests to.
        package var preferredNetwork: String
        /// The host under which credentials are saved.
        package var preferredCache: String

        package init(aliases: [String], preferredNetwork: String, preferredCache: String) {
            self.aliases = aliases
            self.preferredNetwork = preferredNetwork
            self.preferredCache = preferredCache
        }

        /// The aliases and the preferred hosts.
        fileprivate var hosts: Set<String> { Set(aliases + [preferredNetwork, preferredCache]) }
    }

    /// The clouds that are not built in and not on this machine, in the order in which they were learnt.
    package private(set) var learnt: [Cloud] = []
    private var byHost: [String: Cloud]

    /// Creates a directory with Microsoft's clouds.
    package init() {
        byHost = Self.index(Self.builtIn)
    }

    /// The cloud of a host; an unknown host is a cloud of its own.
    package func cloud(of environment: String) -> Cloud {
        byHost[environment] ?? Self.singleHost(environment)
    }

    /// Whether the cloud of the host is known, built in or learnt.
    package func knows(_ environment: String) -> Bool { byHost[environment] != nil }

    /// Whether a host is Entra's, as far as is known: built in, attested by instance discovery, or on this machine, which is the
    /// user's own.
    package func isEntras(_ environment: String) -> Bool { knows(environment) || Self.isLoopback(environment) }

    /// Whether two hosts belong to one cloud.
    package func sameCloud(_ left: String, _ right: String) -> Bool {
        left == right || cloud(of: left).aliases.contains(right) || Self.sameHost(left, right)
    }

    /// Most of Microsoft's libraries save the host without the port, so that a host without one matches the host with any
    /// port.
    private static func sameHost(_ left: String, _ right: String) -> Bool {
        let (leftHost, rightHost) = (URLParts.host(ofEnvironment: left), URLParts.host(ofEnvironment: right))
        return leftHost == rightHost && (left == leftHost || right == rightHost)
    }

    /// Whether a record that was saved under one host may be of another one of its cloud. The agent saves the port with the host: only a
    /// record of another library may be of any port.
    package static func mayBelong(savedUnder saved: String, byAgent isAgents: Bool, to environment: String) -> Bool {
        // Nearly always: looking for the host takes a tenth of the instructions of a hit.
        let colon = UInt8(ascii: ":")
        guard saved != environment, saved.utf8.contains(colon) || environment.utf8.contains(colon) else { return true }
        let host = URLParts.host(ofEnvironment: saved)
        return host != URLParts.host(ofEnvironment: environment) || saved == host && !isAgents
    }

    /// The hosts under which credentials may be saved: the preferred one first, then `environment`, then the others.
    package func cacheAliases(of environment: String) -> [String] {
        let cloud = cloud(of: environment)
        let host = URLParts.host(ofEnvironment: environment)
        var seen = Set<String>()
        return ([cloud.preferredCache, environment] + cloud.aliases + [host]).filter { seen.insert($0).inserted }
    }

    /// The host that is asked about hosts that are not built in, and whose instance discovery attests the learnt clouds.
    package static let attesting = "login.microsoftonline.com"

    /// Whether the host belongs to one of Microsoft's clouds.
    package static func isBuiltIn(_ environment: String) -> Bool { builtInHosts.contains(environment) }

    /// Whether every path of a host is Microsoft's.
    package static func isMicrosofts(_ environment: String) -> Bool {
        let host = URLParts.host(ofEnvironment: environment)
        return isBuiltIn(environment) || host.hasSuffix(".ciamlogin.com") || isB2Cs(host: host)
    }

    /// Whether a host is a B2C tenant's own one, in any of Microsoft's clouds.
    package static func isB2Cs(host: String) -> Bool { b2cSuffixes.contains { host.hasSuffix($0) } }

    /// As in MSAL for Python and .NET.
    private static let b2cSuffixes = [".b2clogin.com", ".b2clogin.cn", ".b2clogin.us", ".b2clogin.de"]

    /// Whether Microsoft's users may sign in, or enter codes, at a page of the host. Written with a dot at its end (RFC 1034 section 3.1), it
    /// is the same host to a browser.
    package static func hasMicrosoftsPages(host: String) -> Bool {
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        return isMicrosofts(host) || pageDomains.contains { host == $0 || host.hasSuffix(".\($0)") }
    }

    private static let pageDomains = [
        "microsoft.com", "microsoft.us", "microsoftonline.com", "microsoftonline.us", "microsoftonline.cn",
        "chinacloudapi.cn", "aka.ms", "live.com",
    ]

    private static let builtInHosts = Set(builtIn.flatMap(\.aliases))

    /// Adds the clouds that one of Microsoft's clouds returned when it was asked about `environment`.
    ///
    /// A cloud is added only if none of its hosts is known yet, and none is this machine: a cloud's refresh tokens are sent to
    /// each of its hosts. A host of this machine is known afterwards, as a cloud of its own, and is never part of `learnt`.
    /// Returns whether any cloud was added.
    package mutating func learn(_ clouds: [Cloud], about environment: String) -> Bool {
        var hasChanged = false
        for cloud in clouds where cloud.hosts.allSatisfy({ byHost[$0] == nil && !Self.isLoopback($0) }) {
            learnt.append(cloud)
            for host in cloud.hosts { byHost[host] = cloud }
            hasChanged = true
        }
        guard byHost[environment] == nil else { return hasChanged }
        let own = Self.singleHost(environment)
        if !Self.isLoopback(environment) { learnt.append(own) }
        byHost[environment] = own
        return true
    }

    private static func isLoopback(_ environment: String) -> Bool {
        URLParts.isLoopback(host: URLParts.host(ofEnvironment: environment))
    }

    private static func index(_ clouds: [Cloud]) -> [String: Cloud] {
        var index: [String: Cloud] = [:]
        for cloud in clouds {
            for host in cloud.aliases { index[host] = cloud }
        }
        return index
    }

    private static func singleHost(_ host: String) -> Cloud {
        Cloud(aliases: [host], preferredNetwork: host, preferredCache: host)
    }

    /// Microsoft's clouds, as in Microsoft's own libraries.
    package static let builtIn: [Cloud] = [
        Cloud(
            aliases: [
                "login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net",
            ],
            preferredNetwork: "login.microsoftonline.com", preferredCache: "login.windows.net"),
        Cloud(
            aliases: ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
            preferredNetwork: "login.partner.microsoftonline.cn", preferredCache: "login.partner.microsoftonline.cn"),
        singleHost("login.microsoftonline.de"),
        Cloud(
            aliases: ["login.microsoftonline.us", "login.usgovcloudapi.net"],
            preferredNetwork: "login.microsoftonline.us", preferredCache: "login.microsoftonline.us"),
        singleHost("login-us.microsoftonline.com"),
        singleHost("login.sovcloud-identity.fr"),
        singleHost("login.sovcloud-identity.de"),
        singleHost("login.sovcloud-identity.sg"),
        Cloud(
            aliases: ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
            preferredNetwork: "login.windows-ppe.net", preferredCache: "login.windows-ppe.net"),
    ]
}
