package import AccessPolicy
package import AgentSandbox
package import AuditLog
internal import CAgentSystem
package import Dispatch
package import Logging
package import TokenEndpoint
package import TokenModel
package import TokenStore

/// The options an agent is started with.
package struct AgentOptions: Sendable {
    /// The path of the socket.
    package var socketPath: String
    /// The descriptor of a socket that listens at the path already, since the service manager has made it; nil to make one.
    package var handedSocket: Int32?
    /// Called when no app can reach the agent any more, since the socket that it has made was removed or replaced, or its socket accepts no
    /// more connections; nil if that is not watched.
    package var onSocketLoss: (@Sendable () -> Void)?
    /// The time between two checks of the socket, and of the store's folder.
    package var socketCheckInterval = DispatchTimeInterval.seconds(60)
    /// The service manager, which is told of the agent's state; nil without one.
    package var notifier: ServiceNotifier?
    /// The path of the socket for measurements; nil for none.
    package var metricsSocketPath: String?
    /// The folder of the store.
    package var stateDirectory: String
    /// The sources of the store's key.
    package var keys: KeySettings
    /// Refuses earlier copies of the store; nil if nothing counts.
    package var counter: RollbackCounter?
    /// The name of the SQLite VFS; nil is the default one. Tests use one that fails.
    package var storeVFS: String?
    /// Whether authorities on loopback addresses may use HTTP, as emulators and tests do.
    package var allowsLoopbackHTTP: Bool
    /// The proxy and the trusted certificates for HTTPS requests.
    package var network: NetworkSettings
    /// The policy that decides which peers are served, and which of their requests; its rules may change later.
    package var policy: PeerPolicy
    /// Reads the configuration again; nil if the agent has none. Blocks the calling thread. The error says what is wrong with it.
    package var readConfiguration: (@Sendable () throws(TokenError) -> ReadConfiguration)?
    /// The process that describes peers and asks for confirmations; nil if this process does it.
    package var helper: HelperProcess?
    /// The program that asks the user to confirm a request; nil to ask on the terminal of the process that has sent it.
    package var askpass: String?
    /// The place of the audit log; nil if there is none.
    package var audit: AuditWriter.Destination?
    /// Whether the audit log has usernames.
    package var auditsNames = false
    /// Whether apps may keep access tokens in their own memory while these hold, and use them again without a request.
    package var letsAppsKeepTokens = true
    /// The maximum number of open connections. Past it, a new connection closes one of the process that has most of them.
    package var connectionLimit: Int
    /// The limits of each process.
    package var peerLimits = PeerLimits()
    /// The maximum size of all imports in progress, in bytes. Exports do not count: only their next part is in memory.
    package var importLimit = 256 << 20
    /// The time for reading and comparing one import, for which other imports wait.
    package var importReadingTime = Duration.seconds(120)
    /// The time for saving one import, for which all other changes wait.
    package var importSavingTime = Duration.seconds(30)
    /// The clock, in seconds since 1970.
    package var now: @Sendable () -> Int64
    /// The seconds since the start of the machine, which go on while it sleeps, and which no setting of the clock changes.
    package var uptime: @Sendable () -> Int64 = { agent_read_times().uptime }
    /// The timers, which tests replace.
    package var timers = Timers.system
    /// The time-outs for token endpoints and browsers.
    package var httpTiming = HTTPTiming()
    /// The user's time zone: some of the cache formats that can be imported have local times.
    package var timeZone: LocalTimeZone
    package var logger: Logger
    /// Whether the process wipes its memory when it releases it, for `doctor`.
    package var wipesReleasedMemory = false
    /// The restrictions that the process has put on itself, for `doctor`.
    package var sandbox = SandboxState.off

    package init(
        socketPath: String, stateDirectory: String, keys: KeySettings = KeySettings(), allowsLoopbackHTTP: Bool,
        network: NetworkSettings, policy: PeerPolicy, connectionLimit: Int = 10_240,
        now: @escaping @Sendable () -> Int64,
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
