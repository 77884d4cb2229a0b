internal import AgentSocket
internal import Logging
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The values of a command line of the agent, by the names of the options.
///
/// ArgumentParser and its properties need a quarter of the time until the agent listens, and so read and explain only
/// what `init(plain:)` does not.
struct AgentArguments {
    var socketPath: String?
    var stateDirectory: String?
    var metricsSocket: String?
    var config: String?
    var checkConfig = false
    var onDemand = false
    var allowLoopbackHttp = false
    var passphraseDescriptor: Int32?
    var requiredSource: KeySource?
    var acceptUnsealedStore = false
    var rollbackCounter: String?
    var resetRollbackCounter = false
    var allowDebugging = false
    var noSandbox = false
    var logLevel = Self.defaultLogLevel

    static let defaultLogLevel = Logger.Level.notice

    /// The description of an option that contradicts another one or cannot be used; nil if there is none.
    var problem: String? {
        let paths = [
            ("--socket", socketPath), ("--state-dir", stateDirectory), ("--metrics-socket", metricsSocket),
            ("--config", config), ("--rollback-counter", rollbackCounter),
        ]
        // It would name the folder in which this process was started.
        if let (option, _) = paths.first(where: { $0.1?.isEmpty == true }) { return "\(option) must not be blank." }
        if let (option, _) = paths.first(where: { $0.1.map(FileStatus.isInRemovedFolder) ?? false }) {
            return "\(option) is a relative path, and the current folder has been removed."
        }
        if resetRollbackCounter, rollbackCounter == nil {
            return "--reset-rollback-counter needs --rollback-counter with the path of the TPM."
        }
        // Before this process opens a file, which could get the number.
        if let passphraseDescriptor, fcntl(passphraseDescriptor, F_GETFD) < 0 {
            return "--passphrase-fd: file descriptor \(passphraseDescriptor) is not open."
        }
        if onDemand, passphraseDescriptor != nil {
            return "--on-demand and --passphrase-fd exclude each other: an agent in the background has no open files."
        }
        return nil
    }

    /// Replaces relative paths of the command line and of the environment, before this process leaves its folder.
    mutating func makePathsAbsolute() {
        socketPath = socketPath.map(FileStatus.absolutePath)
        stateDirectory = stateDirectory.map(FileStatus.absolutePath)
        (config, metricsSocket) = (config.map(FileStatus.absolutePath), metricsSocket.map(FileStatus.absolutePath))
        rollbackCounter = rollbackCounter.map(FileStatus.absolutePath)
        for name in AgentEnvironment.pathNames {
            if let path = AgentEnvironment.value(name) { setenv(name, FileStatus.absolutePath(path), 1) }
        }
    }
}

extension AgentArguments {
    /// Reads a command line of options that are written in full, each with its value as the next argument, as apps and
    /// service managers write them.
    ///
    /// - Returns: nil for any other command line, and for one with a problem.
    init?(plain arguments: some Sequence<String>) {
        self.init()
        var rest = arguments.makeIterator()
        func value() -> String? { rest.next().flatMap { $0.hasPrefix("-") ? nil : $0 } }
        while let argument = rest.next() {
            switch argument {
            case "--check-config": checkConfig = true
            case "--on-demand": onDemand = true
            case "--allow-loopback-http": allowLoopbackHttp = true
            case "--allow-debugging": allowDebugging = true
            case "--no-sandbox": noSandbox = true
            case "--accept-unsealed-store": acceptUnsealedStore = true
            case "--reset-rollback-counter": resetRollbackCounter = true
            default: guard let value = value(), set(argument, to: value) else { return nil }
            }
        }
        guard problem == nil else { return nil }
    }

    /// - Returns: false if there is no such option, or the value is none of its values.
    private mutating func set(_ option: String, to value: String) -> Bool {
        switch option {
        case "--socket": socketPath = value
        case "--state-dir": stateDirectory = value
        case "--metrics-socket": metricsSocket = value
        case "--config": config = value
        case "--rollback-counter": rollbackCounter = value
        case "--passphrase-fd":
            guard let number = Int32(value) else { return false }
            passphraseDescriptor = number
        case "--require-key-source":
            guard let source = KeySource(name: value) else { return false }
            requiredSource = source
        case "--log-level":
            guard let level = Logger.Level(rawValue: value) else { return false }
            logLevel = level
        default: return false
        }
        return true
    }
}
