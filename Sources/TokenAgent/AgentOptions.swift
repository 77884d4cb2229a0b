package import Logging
package import TokenEndpoint
package import TokenModel
package import TokenStore

/// What an agent is started with.
package struct AgentOptions: Sendable {
    /// Where apps find it.
    package var socketPath: String
    /// The folder of its store.
    package var stateDirectory: String
    /// What to open the store with.
    package var keys: KeySettings
    /// SQLite's way to the disk; nil is the system's. Tests put a worse one in.
    package var storeVFS: String?
    /// Whether authorities on this machine may do without TLS: for emulators and tests.
    package var allowsLoopbackHTTP: Bool
    /// Proxy and certificates.
    package var network: NetworkSettings
    /// Which peers it serves.
    package var policy: PeerPolicy
    /// How many connections may be open; past it, the one that has been idle longest is closed for the newcomer.
    package var connectionLimit: Int
    /// How many bytes the imports under way may come to, all together. Of exports only the next part is in memory.
    package var importLimit = 256 << 20
    /// Seconds since 1970.
    package var now: @Sendable () -> Int64
    /// How it has something done later.
    package var timers = Timers.system
    /// How long it waits for token endpoints and browsers.
    package var httpTiming = HTTPTiming()
    /// Where its user is: some of the caches it imports have local times.
    package var timeZone: LocalTimeZone
    /// Where it reports.
    package var logger: Logger

    package init(
        socketPath: String, stateDirectory: String, keys: KeySettings = KeySettings(), allowsLoopbackHTTP: Bool,
        network: NetworkSettings, policy: PeerPolicy, connectionLimit: Int = 4096, now: @escaping @Sendable () -> Int64,
        timeZone: LocalTimeZone = .current, logger: Logger
    ) {
        self.socketPath = socketPath
        self.stateDirectory = stateDirectory
        self.keys = keys
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
        self.network = network
        self.policy = policy
        self.connectionLimit = connectionLimit
        self.now = now
        self.timeZone = timeZone
        self.logger = logger
    }
}
