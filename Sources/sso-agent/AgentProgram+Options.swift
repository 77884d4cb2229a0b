internal import AccessPolicy
internal import AgentConfiguration
internal import AgentSandbox
internal import AgentSocket
internal import AuditLog
internal import CWipingHeap
internal import Logging
internal import PosixFiles
internal import TokenAgent
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension AgentProgram {
    /// The restrictions of this process.
    func sandbox(
        _ folders: [String], _ configuration: [String], _ network: NetworkSettings, _ variables: [String: String]
    ) -> ProcessSandbox {
        // A link, on many systems, to a file that a service writes.
        let resolver = FileStatus.realPath("/etc/resolv.conf") ?? "/etc/resolv.conf"
        let files = ([network.caFile].compactMap(\.self) + configuration).map(FileStatus.absolutePath)
        let home = AgentEnvironment(variables: variables).homeFolder ?? "/root"
        return ProcessSandbox(
            folders: folders,
            // A symbolic link can be opened only if the file to which it leads can be.
            files: [resolver] + files + files.compactMap(FileStatus.realPath),
            home: home, usesProxy: network.usesProxy, environment: variables, realPath: FileStatus.realPath)
    }

    /// The options of the agent, from the command line, the configuration and the environment.
    func options(
        _ configuration: Configuration, _ variables: [String: String], _ environment: AgentEnvironment
    ) throws(TokenError) -> AgentOptions {
        var logger = Logger(label: "sso-agent") { TerminalLogHandler(label: $0) }
        logger.logLevel = arguments.logLevel
        if configuration.caFile?.value.trimmedNonEmpty == nil, let path = variables["SSL_CERT_FILE"]?.trimmedNonEmpty {
            try Self.requireTrusted(path, "SSL_CERT_FILE")
        }
        var options = AgentOptions(
            socketPath: FileStatus.absolutePath(arguments.socketPath ?? environment.socketPath),
            stateDirectory: FileStatus.absolutePath(arguments.stateDirectory ?? environment.stateDirectory),
            keys: KeySettings(
                credentialsDirectory: variables["CREDENTIALS_DIRECTORY"], required: arguments.requiredSource,
                acceptsUnsealed: arguments.acceptUnsealedStore),
            allowsLoopbackHTTP: configuration.allowsLoopbackHTTP,
            network: try Self.network(configuration, variables),
            policy: PeerPolicy(userID: FileStatus.effectiveUser, rules: configuration.rules),
            now: { Int64(Date().timeIntervalSince1970) }, logger: logger)
        options.metricsSocketPath =
            arguments.metricsSocket.map(FileStatus.absolutePath) ?? configuration.metricsSocket?.value
        options.askpass = configuration.askpass?.value
        options.auditsNames = configuration.auditsNames
        options.letsAppsKeepTokens = configuration.letsAppsKeepTokens
        options.audit =
            switch configuration.audit {
            case .file:
                .file(path: "\(options.stateDirectory)/\(AuditWriter.fileName)", limit: AuditWriter.fileLimit)
            case .journal: .journal(socket: AuditWriter.journalSocket)
            case .off: nil
            }
        options.wipesReleasedMemory = wiping_heap_is_on() != 0
        return options
    }

    private static func network(
        _ configuration: Configuration, _ variables: [String: String]
    ) throws(TokenError) -> NetworkSettings {
        let proxy = configuration.proxy
        do throws(TokenError) {
            return try NetworkSettings(
                environment: variables, caFile: configuration.caFile?.value, proxy: proxy?.value)
        } catch {
            guard let proxy, error.message.hasPrefix("network.proxy ") else { throw error }
            throw TokenError(error.code, "\(proxy.place): \(error.message)")
                .suggesting(ConfigurationFiles.editCommand(proxy.file, line: proxy.line))
        }
    }

    /// Refuses a file that another user could change or replace.
    private static func requireTrusted(_ path: String, _ setting: String) throws(TokenError) {
        do throws(TrustedFileError) {
            _ = try FileDescriptor.trusted(path)
        } catch {
            throw TokenError(
                .invalidDeveloperParameter, error.problem.after("\(setting) names \(path), which cannot be used: "))
        }
    }
}

extension RollbackCounter {
    /// Opens the TPM that counts the changes of a store: a device, or the socket of a program that emulates one. Done before the process
    /// is restricted, in which it could not.
    ///
    /// - Throws: `invalidDeveloperParameter` (-51112) if it cannot be used, with the reason.
    convenience init(opening path: String, ofStoreIn directory: String, isReset: Bool) throws(TokenError) {
        do throws(SystemError) {
            let isSocket = FileStatus(path)?.kind == .socket
            let device =
                isSocket ? try FileDescriptor(opened: Self.connect(to: path)) : try FileDescriptor(device: path)
            self.init(device, name: path, directory: directory, isReset: isReset)
        } catch {
            let isDenied = error.isPermissionDenied
            let words = isDenied ? "; join the group of the TPM, and log in again" : ""
            throw TokenError(
                .invalidDeveloperParameter, "--rollback-counter names \(path), which cannot be used: \(error)\(words)",
                isDenied ? .run("sudo usermod --append --groups tss \"$USER\"") : nil)
        }
    }

    private static func connect(to path: String) throws(SystemError) -> Int32 {
        guard let attempt = try? UnixSocket.connect(to: path), case .connected(let number) = attempt else {
            throw SystemError(number: ECONNREFUSED)
        }
        return number
    }
}
