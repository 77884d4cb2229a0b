/// A national cloud that the emulator stands for, besides its own: its names, and whose accounts are in it.
package struct EmulatedCloud: Codable, Sendable, Equatable {
    /// Its hosts, each with its port if it has one; the first is where requests are to go.
    package var hosts: [String]
    /// `preferred_cache` of instance discovery; nil is the first host.
    package var preferredCache: String?
    /// The domains of usernames that are at home in it.
    package var domains: [String]

    package init(hosts: [String], preferredCache: String? = nil, domains: [String] = []) {
        self.hosts = hosts
        self.preferredCache = preferredCache
        self.domains = domains
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        hosts = try fields.decode([String].self, forKey: .hosts)
        preferredCache = try fields.decodeIfPresent(String.self, forKey: .preferredCache)
        domains = try fields.decodeIfPresent([String].self, forKey: .domains) ?? []
    }

    /// Its entry in instance discovery.
    var metadata: JSON {
        [
            "preferred_network": JSON(hosts.first), "preferred_cache": JSON(preferredCache ?? hosts.first),
            "aliases": JSON(hosts),
        ]
    }

    private enum CodingKeys: String, CodingKey {
        case hosts
        case preferredCache = "preferred_cache"
        case domains
    }
}

extension EmulatorSettings {
    /// The cloud of a host; nil is the emulator's own.
    func cloud(ofHost host: String) -> EmulatedCloud? {
        clouds.first { $0.hosts.contains(host) }
    }

    /// The cloud a user is at home in; nil is the emulator's own.
    func cloud(of user: User) -> EmulatedCloud? {
        let domain = user.username.split(separator: "@").last.map { $0.lowercased() }
        return clouds.first { $0.domains.contains { $0.lowercased() == domain } }
    }
}
