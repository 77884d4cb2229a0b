internal import AgentClient
internal import CBenchSystem
internal import EntraEmulator
internal import Foundation
internal import TokenModel

/// Measures redemptions of several accounts at the same time, at an identity provider that answers after a fixed time: over TLS, with the
/// system's certificate authorities and one more, as in a company.
struct RedemptionBench {
    /// The results for a number of accounts that are redeemed together.
    struct Row {
        let accounts: Int
        /// From the first request to the last reply, in nanoseconds.
        var times: [Double] = []
        /// The transactions of the store, each of which is one flush to the disk.
        var commits: Int64 = 0

        var time: Double { times.median }
        /// The flushes for each redemption.
        var flushes: Double { Double(commits) / Double(accounts * Swift.max(times.count, 1)) }
    }

    /// The time after which the provider answers, in milliseconds: that of a quick answer of Entra.
    static let delay = 250

    /// - Parameter agent: the agent to measure; nil is the one beside this program.
    static func run(
        accounts: [Int] = [1, 2, 5, 10, 50, 100], rounds: Int, agent program: String? = nil
    ) async throws -> [Row] {
        let folder = try Bench.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tls = try makeCertificate(in: folder)
        let emulator = try await Emulator.start(EmulatorOptions(tls: tls))
        do {
            let rows = try await run(accounts, rounds, program ?? "sso-agent", emulator, tls, folder)
            await emulator.stop()
            return rows
        } catch {
            await emulator.stop()
            throw error
        }
    }

    private static func run(
        _ counts: [Int], _ rounds: Int, _ program: String, _ emulator: Emulator, _ tls: TLSFiles, _ folder: String
    ) async throws -> [Row] {
        setenv("SSL_CERT_FILE", "\(folder)/authorities.pem", 1)
        defer { unsetenv("SSL_CERT_FILE") }
        let (state, socket) = ("\(folder)/state", "\(folder)/run/agent.sock")
        let agent = try ServerProcess(program, ["--socket", socket, "--state-dir", state], socketPath: socket)
        defer { agent.stop() }
        let client = AgentClient(socketPath: socket, keepsResults: false)
        let requests = try await signIn(counts.max() ?? 1, client, emulator, tls)
        emulator.control.inject(
            Fault { ($0.grant, $0.count, $0.delayMilliseconds) = (.refreshToken, 0, delay) })
        // The first request loads libcurl.
        try await redeem(requests.prefix(1), client)
        var rows = counts.map { Row(accounts: $0) }
        for _ in 0..<rounds {
            for index in rows.indices {
                let before = try await commits(client)
                let start = bench_now()
                try await redeem(requests.prefix(rows[index].accounts), client)
                rows[index].times.append(Double(bench_now() - start))
                rows[index].commits += try await commits(client) - before
            }
        }
        return rows
    }

    private static func redeem(_ requests: some Collection<AcquireTokenSilent>, _ client: AgentClient) async throws {
        try await withThrowingTaskGroup { group in
            for request in requests { group.addTask { _ = try await client.acquireTokenSilent(request) } }
            try await group.waitForAll()
        }
    }

    private static func commits(_ client: AgentClient) async throws -> Int64 {
        let metrics = try await client.status(includesMetrics: true).metrics
        return metrics.filter { $0.name == "sso_agent_store_commits_total" }.reduce(0) { $0 + $1.value }
    }

    /// Signs accounts in, and returns the requests that redeem their refresh tokens.
    private static func signIn(
        _ count: Int, _ client: AgentClient, _ emulator: Emulator, _ tls: TLSFiles
    ) async throws -> [AcquireTokenSilent] {
        guard let clientID = ClientID("bench") else { throw BenchError("not a client ID") }
        let parameters = TokenParameters(
            clientID: clientID, authority: try Authority("\(emulator.url)/common"), scopes: ScopeSet(["User.Read"]))
        let presenter = SignInPresenter(
            method: .browser, browserCommands: ["curl -sSL -o /dev/null --cacert \(tls.certificateChain) %s"])
        var requests: [AcquireTokenSilent] = []
        for number in 0..<count {
            let result = try await client.signIn(
                BeginInteractive(parameters: parameters, loginHint: "user-\(number)@contoso.com"), presenter: presenter)
            requests.append(
                AcquireTokenSilent(
                    parameters: parameters, account: result.account.reference, forceRefresh: true))
        }
        return requests
    }

    /// Makes a certificate for this machine, and a file with it and those of the system.
    private static func makeCertificate(in folder: String) throws -> TLSFiles {
        let (certificate, key) = ("\(folder)/cert.pem", "\(folder)/key.pem")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext",
            "keyUsage=critical,digitalSignature,keyCertSign", "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        guard openssl.terminationStatus == 0 else { throw BenchError("openssl makes no certificate") }
        let system = FileManager.default.contents(atPath: "/etc/ssl/certs/ca-certificates.crt") ?? Data()
        let own = FileManager.default.contents(atPath: certificate) ?? Data()
        try (own + system).write(to: URL(fileURLWithPath: "\(folder)/authorities.pem"))
        return TLSFiles(certificateChain: certificate, privateKey: key)
    }
}

extension [RedemptionBench.Row] {
    var table: String {
        guard let one = first else { return "" }
        let lines = map {
            String(format: "%8d%12.1f%10.2f%16.2f", $0.accounts, $0.time / 1e6, $0.time / one.time, $0.flushes)
        }
        return """
            Redemptions at the same time, at a provider that answers after \(RedemptionBench.delay) ms

            accounts     time ms         ×    flushes each
            \(lines.joined(separator: "\n"))
            """
    }

    var json: [[String: Any]] {
        map { ["accounts": $0.accounts, "time_ms": $0.time / 1e6, "flushes_each": $0.flushes] }
    }
}
