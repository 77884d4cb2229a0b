internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// Published sockets of the executable.
extension AgentProcessFixture {
    /// Makes a folder for sockets, which other users can look into; returns the path of a socket in it.
    func makeSocketFolder() throws -> String {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        try FileManager.default.createDirectory(
            atPath: folder.file("shared"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        return folder.file("shared/sso.sock")
    }

    func publish(
        _ path: String, _ options: [String] = [], clientIDs: [String] = ["app-1"]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await run("ssoctl", ["publish", "--socket", path] + clientIDs.flatMap { ["--client-id", $0] } + options)
    }

    /// The command of a token of app-1.
    func tokenCommand(scope: String = "User.Read") -> [String] {
        [
            "token", "--client-id", "app-1", "--authority", "\(url)/common", "--scope", scope, "--username",
            "alice@contoso.com",
        ]
    }

    /// Runs a command of `ssoctl` at a published socket.
    func at(
        _ path: String, _ arguments: [String], through command: [String] = []
    ) async throws -> (status: Int32, output: String, errors: String) {
        var environment = environment
        environment["SSO_AGENT_SOCK"] = path
        environment["SSO_AGENT_OWNER"] = "\(geteuid())"
        let words = command + [Executable.path("ssoctl")] + arguments
        return try await TestProcess("/usr/bin/env", words, environment: environment).finish()
    }
}
