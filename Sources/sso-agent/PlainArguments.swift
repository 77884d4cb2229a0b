internal import ArgumentParser
internal import Logging
internal import TokenModel
internal import TokenStore

extension SSOAgent {
    /// Reads a command line of options that are written in full, each with its value as the next argument, as apps and
    /// service managers write them.
    ///
    /// Sets every property: reading one without a value would end the process.
    ///
    /// ArgumentParser needs a quarter of the time until the agent listens. It reads every other command line, and
    /// reports what is wrong.
    ///
    /// - Returns: nil for any other command line.
    init?(plain arguments: some Sequence<String>) {
        self.init()
        (socketPath, stateDirectory, metricsSocket, config) = (nil, nil, nil, nil)
        (passphraseDescriptor, requiredSource, rollbackCounter) = (nil, nil, nil)
        (checkConfig, onDemand, allowLoopbackHttp, allowDebugging, noSandbox) = (false, false, false, false, false)
        (acceptUnsealedStore, resetRollbackCounter) = (false, false)
        logLevel = Self.defaultLogLevel
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
        guard (try? validate()) != nil else { return nil }
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
            guard let level = try? Self.level(value) else { return false }
            logLevel = level
        default: return false
        }
        return true
    }
}
