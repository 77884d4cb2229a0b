internal import Foundation
internal import TestSupport

/// The home of a user of whom no agent runs, and who starts programs. Root starts no agent, so this is another user if possible.
struct OnDemandHome {
    let folder: TemporaryFolder
    var environment: [String: String]

    var socketPath: String { "\(folder.path)/run/sso-agent/agent.sock" }

    init() throws {
        folder = try TemporaryFolder()
        let owner: [FileAttributeKey: Any] =
            OtherUser.isPossible ? [.ownerAccountID: OtherUser.id, .groupOwnerAccountID: OtherUser.id] : [:]
        for path in [folder.path, folder.file("run"), folder.file(".config"), folder.file(".config/sso-agent")] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes(
                owner.merging([.posixPermissions: 0o700]) { $1 }, ofItemAtPath: path)
        }
        let inherited = ProcessInfo.processInfo.environment
        environment = [
            "PATH": inherited["PATH"] ?? "/usr/bin:/bin", "HOME": folder.path,
            "XDG_RUNTIME_DIR": folder.file("run"), "SSO_AGENT_SYSTEM_CONFIG": folder.file("system"),
            "SECRET_OF_THE_APP": "17",
        ]
    }

    /// Writes a file that belongs to the user.
    func write(_ text: String, to name: String) throws {
        try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
        if OtherUser.isPossible { chown(folder.file(name), OtherUser.id, OtherUser.id) }
    }

    /// Runs a script of the user's, in which `$0` is `ssoctl`, and then stops the agent that it has started.
    ///
    /// - Parameters:
    ///   - within: a command of root's that runs the words after it, and so the user's script.
    ///   - inspect: called with the agent's process ID before it is stopped.
    func run(
        _ script: String, _ variables: [String: String] = [:], asRoot: Bool = false, within: [String] = [],
        inspect: (Int32) throws -> Void = { _ in }
    ) async throws -> (status: Int32, output: String, errors: String) {
        let words =
            within + (OtherUser.isPossible && !asRoot ? OtherUser.command : [])
            + ["bash", "-c", script, Executable.path("ssoctl"), Executable.path("sso-agent")]
        let ended = try await TestProcess(
            "/usr/bin/env", words, environment: environment.merging(variables) { $1 }
        ).finish()
        if let agent = agent {
            defer { if Self.isAgent(agent) { kill(agent, SIGKILL) } }
            try inspect(agent)
        }
        return ended
    }

    /// Whether a process is an agent: one that has ended leaves its ID in the file, and the ID may be another process's by now.
    private static func isAgent(_ processID: Int32) -> Bool {
        let name = try? String(contentsOfFile: "/proc/\(processID)/comm", encoding: .utf8)
        return name?.hasPrefix("sso-agent") == true
    }

    /// The process ID of the agent.
    var agent: Int32? {
        guard let text = try? String(contentsOfFile: socketPath + ".lock", encoding: .utf8) else { return nil }
        return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
