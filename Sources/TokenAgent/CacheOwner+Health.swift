internal import TokenCache
internal import TokenEndpoint
internal import TokenModel
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
                    uptimeSeconds: max(options.now() - startedAt, 0), accounts: Int64(cache.accountCount))))
    }

    /// Checks what the agent stands on: its folder, its key, its clock and the way to the token endpoint.
    func diagnose(_ request: Diagnose) -> Answer<Diagnose.Reply> {
        .later(
            later { owner async throws(TokenError) in
                var checks = [owner.stateCheck(), owner.keyCheck()]
                let authority = request.authority ?? owner.usualAuthority
                checks += owner.endpointChecks(authority, await owner.endpoint.probe(authority))
                return Diagnose.Reply(checks: checks)
            })
    }

    private func stateCheck() -> HealthCheck {
        let folder = options.stateDirectory
        guard unsaved.isEmpty else {
            return HealthCheck(
                name: "state folder", ok: false, detail: "the last change could not be written to \(folder)",
                hint: "free disk space, or make \(folder) writable; nothing is lost while the agent runs")
        }
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

    private func keyCheck() -> HealthCheck {
        HealthCheck(
            name: "key", ok: true,
            detail: "this version keeps its store unsealed: the folder's and the file's modes protect it")
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
