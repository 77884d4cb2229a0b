internal import AccessPolicy
internal import AgentSandbox
internal import AuditLog
internal import CAgentSystem
internal import PosixFiles
internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The agent's status (`get_status`) and its health checks (`diagnose`).
///
/// Used on the actor of `CacheOwner` only.
final class AgentHealth {
    private let options: AgentOptions
    private let memory: CacheMemory
    private let notes: RedemptionNotes
    private let commits: CommitQueue
    private let lifecycle: StoreLifecycle
    private let sockets: PublishedSockets
    /// nil if there is no audit log.
    private let audit: AuditTrail?
    private let service: any TokenService
    let files: FileChecks
    /// The time of the start, in seconds since the machine's, which no setting of the clock changes.
    private let startedAt: Int64
    /// A lock for each process that asks for diagnoses, which are made one after the other.
    private lazy var turns = KeyedLock<PeerKey>()
    /// The number of diagnoses that each process waits for.
    private var pending: [PeerKey: Int] = [:]

    init(
        _ core: AgentCore, lifecycle: StoreLifecycle, sockets: PublishedSockets, audit: AuditTrail?,
        options: AgentOptions
    ) {
        self.options = options
        memory = core.memory
        notes = core.notes
        commits = core.commits
        service = core.service
        files = FileChecks(core)
        self.lifecycle = lifecycle
        self.sockets = sockets
        self.audit = audit
        startedAt = agent_read_times().uptime
    }

    /// - Parameter quarantined: the names of the files in quarantine.
    func status(_ quarantined: [String]) -> AgentStatus {
        AgentStatus(
            processID: getpid(), version: ProductVersion.text, protocolVersion: WireLimits.protocolVersion,
            socketPath: options.socketPath, stateDirectory: options.stateDirectory,
            uptimeSeconds: uptime, accounts: Int64(memory.cache.accountCount),
            quarantined: quarantined,
            // Its accounts are not known yet: the store must not be taken for an empty one.
            storeProblem: lifecycle.isLoading ? TokenError.storeIsBeingOpened.message : storeProblem,
            publishedSockets: sockets.paths, nextCommand: storeProblem == nil ? nil : storeCommand)
    }

    /// Whether files of the store are in quarantine, unless the user has removed them meanwhile.
    var hasQuarantine: Bool { !lifecycle.store.report.quarantined.isEmpty }

    /// The names of the files in quarantine, as the folder has them now if it answers.
    func quarantined() async -> [String] {
        guard hasQuarantine else { return [] }
        return (try? await files.beginListing(lifecycle.store).outcome()) ?? []
    }

    /// The time since the start, in seconds.
    var uptime: Int64 { agent_read_times().uptime - startedAt }

    /// Checks the program, the state folder, the store, its key, the protection of memory, the sandbox, the audit log, the published
    /// sockets, the loopback redirect, the token endpoint and the clock. The diagnoses of one process are made one after the other, since
    /// each costs more than other requests. A file system that does not answer fails its checks after a limited time.
    ///
    /// - Throws: `requestDenied` (-53011) if the process waits for too many diagnoses.
    func checks(_ request: Diagnose, for peer: PeerKey) async throws(TokenError) -> [HealthCheck] {
        let count = pending[peer] ?? 0
        guard count < Self.peerLimit else { throw Self.tooManyOfPeer }
        pending[peer] = count + 1
        defer { pending[peer] = pending[peer].flatMap { $0 > 1 ? $0 - 1 : nil } }
        return try await turns.exclusive(peer) { () async throws(TokenError) in try await checks(request) }
    }

    private func checks(_ request: Diagnose) async throws(TokenError) -> [HealthCheck] {
        // They wait for the same disk, as a rule, and so for one time limit together.
        let key = files.begin(unanswered: unansweredKey) { () async throws(TokenError) in
            try await self.keyCheck(await self.lifecycle.keyProblem())
        }
        let folder = files.beginFolder(options.stateDirectory)
        let auditLog = files.begin(unanswered: .unanswered("audit log", at: auditPlace)) {
            () async throws(TokenError) in await self.auditCheck()
        }
        // First, since it may find that the store was removed or replaced.
        let keyCheck = try await key.outcome()
        let checks = [
            programCheck(), try await folder.outcome(), storeCheck(await quarantined()), keyCheck, memoryCheck(),
            sandboxCheck(), try await auditLog.outcome(), socketsCheck(), await redirectCheck(),
        ]
        let authority = request.authority ?? defaultAuthority
        return checks + endpointChecks(authority, await service.probe(authority))
    }

    /// The problems of the store; nil if there are none.
    private var storeProblem: String? {
        let report = lifecycle.store.report
        let uncounted = report.counterProblem.map { "earlier copies of it are not refused: \($0)" }
        let problems =
            [lifecycle.failure?.statement ?? writingProblem, uncounted].compactMap(\.self) + report.notices
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    /// The command that helps with the problems of the store; nil if none is known to.
    private var storeCommand: String? {
        (lifecycle.failure ?? lifecycle.store.report.writeError)?.details.nextCommand
    }

    /// Whether earlier copies of the store are refused.
    private var counting: String {
        lifecycle.store.report.count.map { "; earlier copies of it are refused: a TPM has counted to \($0)" } ?? ""
    }

    private var writingProblem: String? {
        if let error = lifecycle.store.report.writeError { return error.statement }
        guard commits.hasUnsavedChanges else { return nil }
        return "not every record has been written to \(options.stateDirectory) yet"
    }

    /// Whether the agent's program has been replaced since the start, as by an upgrade. It is no failure: requests are served.
    private func programCheck() -> HealthCheck {
        let isReplaced = ProgramFile.isReplaced
        return HealthCheck(
            name: "program", ok: true,
            detail: "version \(ProductVersion.text)"
                + (isReplaced ? "; its file has been replaced since it was started" : ""),
            // The next request starts the new one.
            hint: isReplaced ? "kill \(getpid())" : nil)
    }

    private func storeCheck(_ quarantined: [String]) -> HealthCheck {
        guard !lifecycle.isLoading else {
            return HealthCheck(name: "store", ok: true, detail: TokenError.storeIsBeingOpened.message)
        }
        let kept =
            "damaged files are kept in \(options.stateDirectory): \(quarantined.joined(separator: ", ")); delete them when "
            + "they are not needed any more"
        if let problem = storeProblem {
            let isUnwritten = lifecycle.failure == nil && writingProblem != nil
            let words = [
                isUnwritten ? "free disk space, or make \(options.stateDirectory) writable" : nil,
                quarantined.isEmpty ? nil : kept,
            ].compactMap(\.self)
            return HealthCheck(
                name: "store", ok: false,
                detail: problem + (isUnwritten ? "; nothing is lost while the agent runs" : ""),
                hint: storeCommand ?? (words.isEmpty ? nil : words.joined(separator: "; ")))
        }
        guard quarantined.isEmpty else {
            return HealthCheck(name: "store", ok: false, detail: "files of the store were damaged earlier", hint: kept)
        }
        let doubtful =
            notes.interrupted.isEmpty
            ? "" : "; no answer came to \(Phrases.count(notes.interrupted.count, "redemption"))"
        let created = lifecycle.store.report.isNew ? "; created by this agent, since there was none" : ""
        return HealthCheck(
            name: "store", ok: true,
            detail: "\(Phrases.count(memory.cache.accountCount, "account"))\(created)\(doubtful)\(counting)")
    }

    /// The check of a key that the store does not read again: its thread waits for the disk of the store, or for the place of the key.
    private var unansweredKey: HealthCheck {
        let (report, store) = (lifecycle.store.report, "the store in \(options.stateDirectory)")
        return .unanswered("key", at: report.keyPlace.isEmpty ? store : "\(store), or its key at \(report.keyPlace),")
    }

    /// - Parameter problem: the error that would keep the store from being opened at the next start; nil if there is none.
    private func keyCheck(_ problem: TokenError?) async throws(TokenError) -> HealthCheck {
        let report = lifecycle.store.report
        if let problem {
            // No key can be written to a folder that does not exist, whose check says what helps.
            let hint = "before the agent stops, which still has the store's key in memory: ssoctl key set file"
            let folder = options.stateDirectory
            let hasFolder = try await files.thread.run { FileStatus(folder) != nil }
            return HealthCheck(
                name: "key", ok: false, detail: problem.statement,
                hint: problem.details.nextCommand ?? (hasFolder ? hint : nil))
        }
        guard case .locked(let error) = report.phase else {
            let source = report.keySource.map { "\($0.name): \(report.keyPlace)" } ?? "not known yet"
            guard let keyring = lifecycle.store.unansweredKeyring else {
                return HealthCheck(name: "key", ok: true, detail: source)
            }
            return HealthCheck(
                name: "key", ok: true, detail: "\(source); \(keyring) has not answered yet",
                hint: "unlock the keyring if it asks for its password")
        }
        return HealthCheck(
            name: "key", ok: false, detail: error.statement, hint: error.details.nextCommand ?? "ssoctl unlock")
    }

    /// Whether other processes can read the agent's memory. It is no failure: the user has asked for it with an option.
    private func memoryCheck() -> HealthCheck {
        let isOpen = ResourceLimits.isInspectable
        let wiping = options.wipesReleasedMemory ? "; wiped when it is released" : "; not wiped when it is released"
        return HealthCheck(
            name: "memory", ok: true,
            detail: (isOpen ? "open to debuggers and core dumps" : "closed to debuggers and core dumps") + wiping,
            hint: isOpen ? "start sso-agent without --allow-debugging" : nil)
    }

    /// What the agent's process may not do. It is no failure: the kernel may be old, or the user has asked for it with an option.
    private func sandboxCheck() -> HealthCheck {
        if options.sandbox != .off, options.helper?.isRunning != true {
            return HealthCheck(
                name: "sandbox", ok: false,
                detail: options.sandbox.summary
                    + "; the helper process is not running, so that every peer counts as sandboxed",
                hint: "restart sso-agent")
        }
        return HealthCheck(
            name: "sandbox", ok: true,
            detail: options.sandbox.summary + (options.helper == nil ? "" : "; a helper process describes peers"),
            hint: options.sandbox.isComplete
                ? nil : "start sso-agent without --no-sandbox, on a Linux kernel of version 5.13 or later with Landlock"
        )
    }

    /// The file or the journal that the audit log is written to.
    private var auditPlace: String {
        switch options.audit {
        case .file(let path, _): path
        case .journal(let socket): "the journal \(socket)"
        case nil: ""
        }
    }

    /// Whether the audit log can be written. Requests are answered also if it cannot.
    private func auditCheck() async -> HealthCheck {
        let name = "audit log"
        guard let audit, let destination = options.audit else {
            return HealthCheck(name: name, ok: true, detail: "off, by the configuration")
        }
        let remedy =
            switch destination {
            case .file(let path, _): "free disk space, or make \(path) a file that you can write"
            case .journal: "start systemd-journald"
            }
        guard let problem = await audit.problem() else {
            return HealthCheck(name: name, ok: true, detail: auditPlace)
        }
        return HealthCheck(
            name: name, ok: false, detail: "\(problem.statement); events are missing in it", hint: remedy)
    }

    /// The published sockets, which give tokens to others. It is no failure: the user has published them.
    private func socketsCheck() -> HealthCheck {
        let sockets = sockets.list.map { socket in
            let users = socket.userIDs.map { "\($0)" }.joined(separator: ", ")
            return "\(socket.path) (users \(users); \(Phrases.duration(socket.expiresOn - options.now())) left)"
        }
        return HealthCheck(
            name: "published sockets", ok: true, detail: sockets.isEmpty ? "none" : sockets.joined(separator: "; "))
    }

    /// Whether the agent can listen for the loopback redirect of a browser sign-in. Only the identity provider knows whether the
    /// redirect URI is registered; the hint says what to register.
    private func redirectCheck() async -> HealthCheck {
        let (name, target) = ("browser sign-in", BrowserRedirect(nil))
        do throws(TokenError) {
            try await LoopbackRedirect.listen(
                redirectURI: nil, state: PKCE.randomText(), userID: options.policy.userID
            ).close()
        } catch {
            return HealthCheck(
                name: name, ok: false, detail: error.statement,
                hint: error.details.nextCommand ?? "sign in with a device code: ssoctl sign-in --device-code")
        }
        return HealthCheck(
            name: name, ok: true, detail: "redirects to \(target.registration) on a free port",
            hint: "if a sign-in page shows AADSTS50011, \(target.remedy)")
    }

    private func endpointChecks(_ authority: Authority, _ probe: Result<ServerClock, TokenError>) -> [HealthCheck] {
        switch probe {
        case .failure(let error):
            // The message of the agent's own refusals contains the remedy.
            let isRefused = error.code == .invalidDeveloperParameter
            // Sentences without a colon, behind which a command is expected, whose line is not broken.
            let cause =
                if error.isOfCaptivePortal {
                    "check the authority, and open it in a browser on this machine, since a captive portal or a proxy may "
                        + "answer in its place"
                } else if error.details.httpStatus.map({ $0 == 429 || $0 >= 500 }) == true {
                    // The provider was reached, or a proxy in front of it.
                    "wait, and try again, since the provider, or a proxy before it, cannot answer at present"
                } else if error.details.networkErrorCode == NetworkErrorCode.certificateDates {
                    "set the clock of this machine if it is wrong (timedatectl set-ntp true); if it is right, the certificate of "
                        + "the provider, or of a proxy before it, has to be renewed"
                } else {
                    "check the network, network.proxy or HTTPS_PROXY, and network.ca_file or SSL_CERT_FILE"
                }
            return [
                HealthCheck(
                    name: "token endpoint", ok: false, detail: "\(authority.url): \(error.statement)",
                    hint: isRefused ? error.details.nextCommand : "\(cause); tokens still valid are served meanwhile")
            ]
        case .success(let server):
            let reached = HealthCheck(name: "token endpoint", ok: true, detail: "\(authority.url) answers")
            guard let time = server.secondsSince1970 else { return [reached] }
            let skew = options.now() - time
            let isRight = abs(skew) <= 300
            return [
                HealthCheck(
                    name: "clock", ok: isRight,
                    detail: isRight
                        ? "agrees with \(authority.environment)" : "differs by \(Phrases.duration(abs(skew)))",
                    hint: isRight ? nil : "set the clock; tokens would seem expired, or good when they are not"),
                reached,
            ]
        }
    }

    /// An authority of the cached accounts; the public cloud if there are none.
    private var defaultAuthority: Authority {
        let environment = memory.cache.environments.min() ?? Authority.common.environment
        let network = memory.cache.clouds.cloud(of: environment).preferredNetwork
        let isLocal = Authority.common.withEnvironment(network).isLoopback && service.allowsLoopbackHTTP
        let url = "\(isLocal ? "http" : "https")://\(network)/common"
        return (try? Authority(url)) ?? .common
    }

    /// The number of diagnoses that one process may wait for.
    private static let peerLimit = 8

    private static let tooManyOfPeer = TokenError(
        .requestDenied, "this process waits for \(peerLimit) diagnoses already; wait for one of them", reason: .agent)
}

extension TokenError {
    /// Whether a captive portal may have answered: with a page, a redirect to it, the status 511 (RFC 6585 section 6), or the certificate of
    /// another host.
    fileprivate var isOfCaptivePortal: Bool {
        if code == .serverInvalidResponse || details.networkErrorCode == NetworkErrorCode.certificateOfOtherHost {
            return true
        }
        return details.httpStatus.map { (300...399).contains($0) || $0 == 511 } ?? false
    }
}

/// The file of the program that this process runs.
enum ProgramFile {
    /// Whether the file has been removed or replaced since the process was started, as a package does at an upgrade.
    /// False if the system does not report it.
    static var isReplaced: Bool {
        #if os(Linux)
            // proc_pid_exe(5): the kernel adds a mark to the path of a file that has no name any more.
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("/proc/self/exe", &path, path.count)
            let mark = " (deleted)".utf8.map { CChar($0) }
            return length > 0 && path.prefix(length).suffix(mark.count).elementsEqual(mark)
        #else
            return false
        #endif
    }
}
