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

extension CacheOwner {
    /// What `hello` is answered with.
    static let greeting = Hello.Reply(
        protocolVersion: WireLimits.protocolVersion, agentVersion: ProductVersion.text, requests: Request.numbers)

    func status() -> Answer<AgentStatus> {
        .now(
            .success(
                AgentStatus(
                    processID: getpid(), version: ProductVersion.text, protocolVersion: WireLimits.protocolVersion,
                    socketPath: options.socketPath, stateDirectory: options.stateDirectory,
                    uptimeSeconds: max(options.now() - startedAt, 0), accounts: Int64(cache.accountCount),
                    quarantined: store.quarantined, storeProblem: storeProblem)))
    }

    /// Why the store is not as it should be, if it is not.
    private var storeProblem: String? {
        let problems = [writingProblem].compactMap(\.self) + store.report.notices
        return problems.isEmpty ? nil : problems.joined(separator: "; ")
    }

    private var writingProblem: String? {
        if case .failed(let error, _) = opening { return error.message }
        if let error = store.report.unwritable { return error.message }
        return unsaved.isEmpty ? nil : "the last change could not be written to \(options.stateDirectory)"
    }

    /// Checks what the agent stands on: its folder, its key, its clock and the way to the token endpoint.
    func diagnose(_ request: Diagnose) -> Answer<Diagnose.Reply> {
        .later(
            later { owner async throws(TokenError) in
                let keyProblem = await owner.keyProblem()
                var checks = [owner.stateCheck(), owner.storeCheck(), owner.keyCheck(keyProblem), owner.memoryCheck()]
                checks.append(await owner.redirectCheck())
                let authority = request.authority ?? owner.usualAuthority
                checks += owner.endpointChecks(authority, await owner.endpoint.probe(authority))
                return Diagnose.Reply(checks: checks)
            })
    }

    private func stateCheck() -> HealthCheck {
        let folder = options.stateDirectory
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & 0o077 != 0 {
            return HealthCheck(
                name: "state folder", ok: false, detail: "other users can look into \(folder)",
                hint: "chmod 0700 \(folder)")
        }
        guard access(folder, W_OK) == 0 else {
            return HealthCheck(
                name: "state folder", ok: false, detail: "\(folder) is not writable", hint: "chmod 0700 \(folder)")
        }
        return HealthCheck(name: "state folder", ok: true, detail: folder)
    }

    private func storeCheck() -> HealthCheck {
        let quarantined = store.quarantined
        let kept =
            "damaged files are kept in \(options.stateDirectory): \(quarantined.joined(separator: ", ")); delete them when "
            + "nobody needs them"
        if let problem = storeProblem {
            let writable =
                "free disk space, or make \(options.stateDirectory) writable; nothing is lost while the agent runs"
            let hints = (writingProblem == nil ? [] : [writable]) + (quarantined.isEmpty ? [] : [kept])
            return HealthCheck(
                name: "store", ok: false, detail: problem, hint: hints.isEmpty ? nil : hints.joined(separator: "; "))
        }
        guard quarantined.isEmpty else {
            return HealthCheck(name: "store", ok: false, detail: "files of the store were damaged earlier", hint: kept)
        }
        let doubtful =
            interrupted.isEmpty ? "" : "; no answer came to \(interrupted.count) redemptions before the last stop"
        return HealthCheck(name: "store", ok: true, detail: "\(cache.accountCount) accounts\(doubtful)")
    }

    /// Why the store could not be opened at the next start. Not asked during a load, which may wait for a keyring.
    private func keyProblem() async -> TokenError? {
        guard case .done = opening else { return nil }
        return await store.keyProblem()
    }

    /// - Parameter problem: why the store could not be opened at the next start.
    private func keyCheck(_ problem: TokenError?) -> HealthCheck {
        let report = store.report
        if let problem {
            return HealthCheck(
                name: "key", ok: false, detail: problem.message,
                hint: "ssoctl key set file, before the agent stops: it still has the store's key in memory")
        }
        guard case .locked(let error) = report.phase else {
            let source = report.keySource.map { "\($0.name): \(report.keyPlace)" } ?? "not known yet"
            return HealthCheck(name: "key", ok: true, detail: source)
        }
        return HealthCheck(name: "key", ok: false, detail: error.message, hint: "ssoctl unlock")
    }

    /// Not a failure: who allows debugging means to.
    private func memoryCheck() -> HealthCheck {
        let isOpen = ResourceLimits.isInspectable
        return HealthCheck(
            name: "memory", ok: true,
            detail: isOpen ? "open to debuggers and core dumps" : "closed to debuggers and core dumps",
            hint: isOpen ? "start sso-agent without --allow-debugging" : nil)
    }

    /// Whether the loopback redirect of a browser sign-in can be listened on. Whether it is registered as a redirect URI, only the
    /// identity provider knows; the hint says what to register.
    private func redirectCheck() async -> HealthCheck {
        let (name, target) = ("browser sign-in", BrowserRedirect(nil))
        do throws(TokenError) {
            try await LoopbackRedirect.listen(redirectURI: nil, state: PKCE.randomText(), on: loop).close()
        } catch {
            return HealthCheck(
                name: name, ok: false, detail: error.message,
                hint: "sign in with a device code: ssoctl sign-in --device-code")
        }
        return HealthCheck(
            name: name, ok: true, detail: "redirects to \(target.registration) on a free port",
            hint: "if a sign-in page shows AADSTS50011, \(target.remedy)")
    }

    private func endpointChecks(
        _ authority: Authority, _ probe: Result<ServerClock, TokenError>
    ) -> [HealthCheck] {
        switch probe {
        case .failure(let error):
            return [
                HealthCheck(
                    name: "token endpoint", ok: false, detail: "\(authority.url): \(error.message)",
                    hint: "check the network, HTTPS_PROXY and SSL_CERT_FILE; tokens still valid are served meanwhile")
            ]
        case .success(let server):
            let reached = HealthCheck(name: "token endpoint", ok: true, detail: "\(authority.url) answers")
            guard let time = server.secondsSince1970 else { return [reached] }
            let skew = options.now() - time
            let isRight = abs(skew) <= 300
            return [
                HealthCheck(
                    name: "clock", ok: isRight,
                    detail: isRight ? "agrees with \(authority.environment)" : "differs by \(skew) seconds",
                    hint: isRight ? nil : "set the clock; tokens would seem expired, or good when they are not"),
                reached,
            ]
        }
    }

    /// Where the accounts are; the public cloud when there are none.
    private var usualAuthority: Authority {
        let environment = cache.environments.min() ?? Authority.common.environment
        let network = cache.clouds.cloud(of: environment).preferredNetwork
        let isLocal = Authority.common.withEnvironment(network).isLoopback && options.allowsLoopbackHTTP
        let url = "\(isLocal ? "http" : "https")://\(network)/common"
        return (try? Authority(url)) ?? .common
    }
}
