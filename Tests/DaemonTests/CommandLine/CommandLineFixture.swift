internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing

/// What tests of the command line have in common.
extension AgentProcessFixture {
    /// Runs `ssoctl`, and checks the exit status.
    @discardableResult
    func ssoctl(
        _ arguments: [String], status: Int32 = 0, variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> (output: String, errors: String) {
        let ended = try await TestProcess("ssoctl", arguments, environment: environment.merging(variables) { $1 })
            .finish()
        #expect(
            ended.status == status, "\(arguments): \(ended.output)\(ended.errors)", sourceLocation: sourceLocation)
        return (ended.output, ended.errors)
    }

    /// Runs `ssoctl` with `--json`, and decodes its output.
    func json(
        _ arguments: [String], status: Int32 = 0, variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: Any] {
        var arguments = arguments
        arguments.insert("--json", at: arguments.firstIndex(of: "--") ?? arguments.endIndex)
        let printed = try await ssoctl(
            arguments, status: status, variables: variables, sourceLocation: sourceLocation)
        let object = try JSONSerialization.jsonObject(with: Data(printed.output.utf8))
        return try #require(object as? [String: Any], sourceLocation: sourceLocation)
    }

    /// The error of a command that fails.
    func failure(
        _ arguments: [String], status: Int32, variables: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [String: Any] {
        let printed = try await json(arguments, status: status, variables: variables, sourceLocation: sourceLocation)
        return try #require(printed["error"] as? [String: Any], sourceLocation: sourceLocation)
    }

    /// Imports an access token of `app-2` for `https://api`, alone, as an older ADAL has saved it for a guest of a tenant.
    func importGuestToken(_ token: String, of username: String, at authority: String) async throws {
        let entry = [
            "tokenType": "Bearer", "expiresOn": "2036-09-18 14:13:20.123456", "accessToken": token,
            "resource": "https://api", "userId": username, "_clientId": "app-2", "_authority": authority,
            "tenantId": "e71b7c87-f5e7-4feb-9268-30580fce3171", "oid": "11111111-2222-4333-8444-555555555555",
        ]
        let file = folder.file("guest.json")
        try JSONSerialization.data(withJSONObject: [entry]).write(to: URL(filePath: file))
        try await ssoctl(["import", file])
    }

    /// Starts `ssoctl` on a terminal of its own; what it shows is the output of the process.
    ///
    /// - Parameters:
    ///   - steps: texts to wait for, each with what is typed then.
    ///   - hasShell: whether it is a job of a shell; see `job_control.py`.
    func onTerminal(
        _ arguments: [String], _ steps: [(wait: String, type: String)] = [], variables: [String: String] = [:],
        hasShell: Bool = false
    ) throws -> TestProcess {
        let list = try JSONSerialization.data(withJSONObject: steps.map { [$0.wait, $0.type] })
        let name = hasShell ? "job_control.py" : "terminal.py"
        let script = PackageFolder.path("Tests/DaemonTests/python/\(name)")
        let environment = environment.merging(["TERM": "xterm-256color"].merging(variables) { $1 }) { $1 }
        return try TestProcess(
            "/usr/bin/env",
            ["python3", script, String(decoding: list, as: UTF8.self), Executable.path("ssoctl")] + arguments,
            environment: environment)
    }

    /// Adds an app to the configuration.
    func addApp(_ name: String, clientID: String, scopes: String = "User.Read") async throws {
        try await ssoctl([
            "app", "add", name, "--client-id", clientID, "--authority", "\(emulator.url)/common", "--scope", scopes,
        ])
    }

    /// Adds an app of one of the emulator's OpenID providers to the configuration.
    func addApp(_ name: String, clientID: String, ofProvider provider: String) async throws {
        try await ssoctl([
            "app", "add", name, "--client-id", clientID, "--authority", "\(emulator.url)/openid/\(provider)",
            "--authority-kind", "openid", "--scope", "User.Read",
        ])
    }

    func signIn(app: String, _ username: String) async throws {
        try await ssoctl(["sign-in", app, "--login-hint=\(username)"])
    }

    /// The text of the configuration file.
    func configuration() throws -> String {
        try String(contentsOfFile: folder.file("config.toml"), encoding: .utf8)
    }

    func configure(_ text: String) throws {
        try text.write(toFile: folder.file("config.toml"), atomically: false, encoding: .utf8)
    }
}
