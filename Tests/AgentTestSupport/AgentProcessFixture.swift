internal import AgentClient
package import EntraEmulator
internal import Foundation
package import TestSupport
internal import Testing
package import TokenModel

/// The agent's executable with a temporary folder, and the emulator.
package struct AgentProcessFixture {
    package let folder: TemporaryFolder
    package let emulator: Emulator
    package let environment: [String: String]
    package let socketPath: String
    /// The network in which every host is the emulator; nil if the programs use loopback addresses.
    package let internet: TestInternet?

    /// The root of the authorities: the emulator, or Microsoft's public cloud in a network in which every host is the emulator.
    package var url: String { internet == nil ? emulator.url : "https://login.microsoftonline.com" }

    /// - Parameter rules: the configuration; by default nobody has to confirm a request.
    package static func with(
        settings: EmulatorSettings = EmulatorSettings(), usesTLS: Bool = false, isOnline: Bool = false,
        rules: String = "[[rule]]\nrequests = [\"all\"]\neffect = \"allow\"\n",
        _ body: (AgentProcessFixture) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let tls = usesTLS || isOnline ? TLSFiles(try TestCertificate(in: folder)) : nil
        let emulator = try await Emulator.start(EmulatorOptions(tls: tls, settings: settings))
        var internet: TestInternet?
        if isOnline, let tls { internet = try await TestInternet.start(emulator, files: tls) }
        let socketPath = folder.file("run/agent.sock")
        let configuration = folder.file("config.toml")
        try rules.write(toFile: configuration, atomically: false, encoding: .utf8)
        let inherited = ProcessInfo.processInfo.environment
        var environment = [
            "PATH": inherited["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
            "LD_LIBRARY_PATH": inherited["LD_LIBRARY_PATH"] ?? "", "SSO_AGENT_SOCK": socketPath,
            "SSO_AGENT_STATE_DIR": folder.file("state"), "SSO_AGENT_CONFIG": configuration,
            "SSO_AGENT_SYSTEM_CONFIG": folder.file("system"),
            "BROWSER": "curl -sSL -o /dev/null %s", "SSO_AGENT_COMPLETION_MS": "300000",
        ]
        if let tls {
            for name in ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"] {
                environment[name] = tls.certificateChain
            }
            environment["NO_PROXY"] = "127.0.0.1,localhost"
        }
        if let internet { environment.merge(try await internet.environment(in: folder)) { $1 } }
        let fixture = AgentProcessFixture(
            folder: folder, emulator: emulator, environment: environment, socketPath: socketPath, internet: internet)
        try await withCleanup {
            try await body(fixture)
        } cleanUp: { [internet] in
            await internet?.proxy.stop()
            await emulator.stop()
        }
    }

    /// Starts an agent that accepts connections; it is killed when the test releases it, if it still runs.
    ///
    /// - Parameter variables: further environment variables.
    package func agent(_ arguments: [String] = [], variables: [String: String] = [:]) async throws -> RunningAgent {
        let process = try TestProcess(
            "sso-agent", ["--allow-loopback-http"] + arguments, environment: environment.merging(variables) { $1 })
        try await process.waitForError("listening on \(socketPath)")
        return RunningAgent(process)
    }

    /// Waits until the agent has loaded its store, with a request that needs the cache.
    package func waitUntilOpen() async throws {
        _ = try await AgentClient(socketPath: socketPath).listAccounts(ListAccounts(clientID: nil))
    }

    /// Runs a program and waits for its end.
    package func run(
        _ executable: String, _ arguments: [String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await TestProcess(executable, arguments, environment: environment).finish()
    }
}

/// A running agent process, killed with the last reference.
package final class RunningAgent {
    package let process: TestProcess

    package init(_ process: TestProcess) { self.process = process }

    deinit { process.signal(SIGKILL) }

    package var processID: Int32 { process.processID }
}

/// The requests that most tests of the executable make.
extension AgentProcessFixture {
    package func parameters(scopes: [String] = ["User.Read"]) throws -> TokenParameters {
        TokenParameters(
            clientID: try #require(ClientID("app-1")), authority: try Authority("\(emulator.url)/common"),
            scopes: ScopeSet(scopes))
    }

    /// Signs a user in, with the browser's part.
    @discardableResult
    package func signIn(_ username: String, _ parameters: TokenParameters) async throws -> TokenResult {
        let agent = AgentClient(socketPath: socketPath)
        let presenter = SignInPresenter(method: .browser, browserCommands: ["curl -sSL -o /dev/null %s"])
        return try await agent.signIn(
            BeginInteractive(parameters: parameters, loginHint: username), presenter: presenter)
    }
}
