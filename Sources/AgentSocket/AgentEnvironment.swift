internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The settings in the process's environment: the paths of the socket, the store and the configuration, and the browser.
package struct AgentEnvironment: Sendable {
    private let variables: [String: String]

    package init(variables: [String: String]) {
        self.variables = variables
    }

    /// The current environment of this process.
    package static var current: AgentEnvironment {
        let names = [
            "SSO_AGENT_SOCK", "SSO_AGENT_OWNER", "SSO_AGENT_STATE_DIR", "SSO_AGENT_CONFIG",
            "SSO_AGENT_SYSTEM_CONFIG", "SSO_AGENT_KEEP_TOKENS", "SSO_AGENT_START", "SSO_AGENT_EXECUTABLE", "SNAP",
            "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
            "HOME", "BROWSER", "DISPLAY", "WAYLAND_DISPLAY",
        ]
        var variables: [String: String] = [:]
        for name in names {
            if let value = value(name) { variables[name] = value }
        }
        return AgentEnvironment(variables: variables)
    }

    /// The value of a variable of this process; nil if it is not set or blank.
    package static func value(_ name: String) -> String? {
        getenv(name).flatMap { String(cString: $0).trimmedNonEmpty }
    }

    /// The path of the socket: `$SSO_AGENT_SOCK`, else `$XDG_RUNTIME_DIR/sso-agent/agent.sock`, else `run/agent.sock` in the
    /// directory of the store. Never in `/tmp`, where another user can make the directory first.
    package var socketPath: String {
        if let path = value("SSO_AGENT_SOCK") { return path }
        if let runtime = value("XDG_RUNTIME_DIR") { return "\(runtime)/sso-agent/agent.sock" }
        return "\(stateDirectory)/run/agent.sock"
    }

    /// The ID of another user whose agent may listen on the socket, since that user has published it: `$SSO_AGENT_OWNER`. Nil for
    /// none.
    package var socketOwner: UInt32? { value("SSO_AGENT_OWNER").flatMap { UInt32($0) } }

    /// The directory of the store: `$SSO_AGENT_STATE_DIR`, else `$XDG_STATE_HOME/sso-agent`, else
    /// `~/.local/state/sso-agent`.
    package var stateDirectory: String {
        if let directory = value("SSO_AGENT_STATE_DIR") { return directory }
        return "\(value("XDG_STATE_HOME") ?? "\(home)/.local/state")/sso-agent"
    }

    /// The configuration file: `$SSO_AGENT_CONFIG`, else `$XDG_CONFIG_HOME/sso-agent/config.toml`, else the same under
    /// `~/.config`.
    package var configFile: String {
        if let file = value("SSO_AGENT_CONFIG") { return file }
        return "\(value("XDG_CONFIG_HOME") ?? "\(home)/.config")/sso-agent/config.toml"
    }

    /// Whether `$SSO_AGENT_CONFIG` names the configuration file, so that its absence is an error.
    package var namesConfigFile: Bool { value("SSO_AGENT_CONFIG") != nil }

    /// The folder of the system's configuration: `$SSO_AGENT_SYSTEM_CONFIG`, else `/etc/sso-agent`.
    package var systemConfigFolder: String { value("SSO_AGENT_SYSTEM_CONFIG") ?? "/etc/sso-agent" }

    /// The commands that open a web page, in order of preference: `$BROWSER`, a colon-separated list in which `%s` stands
    /// for the URL.
    package var browserCommands: [String] {
        guard let commands = value("BROWSER") else { return hasDisplay ? [Self.systemOpener] : [] }
        return commands.split(separator: ":").map(String.init)
    }

    /// Whether an app may keep access tokens in its own memory, and use them again without asking the agent: unless
    /// `$SSO_AGENT_KEEP_TOKENS` is `0`, `no`, `off` or `false`.
    package var keepsTokens: Bool { isOn("SSO_AGENT_KEEP_TOKENS") }

    /// Whether an app may start the agent if none is running: unless `$SSO_AGENT_START` is `0`, `no`, `off` or `false`, or
    /// `$SSO_AGENT_SOCK` names a socket, which somebody else serves.
    package var startsAgent: Bool { isOn("SSO_AGENT_START") && value("SSO_AGENT_SOCK") == nil }

    /// The program of the agent that an app may start: `$SSO_AGENT_EXECUTABLE`. Nil for the installed one.
    package var agentExecutable: String? { value("SSO_AGENT_EXECUTABLE") }

    /// Whether this process is in the sandbox of a Flatpak or a Snap, in which an agent would be one of the sandbox.
    package var isSandboxed: Bool { value("SNAP") != nil || FileStatus("/.flatpak-info") != nil }

    /// The folders in which the service manager of the user finds its units.
    var unitFolders: [String] {
        #if os(macOS)
            return ["\(home)/Library/LaunchAgents", "/Library/LaunchAgents"]
        #else
            let folders = [
                "\(value("XDG_CONFIG_HOME") ?? "\(home)/.config")/systemd/user", "/etc/systemd/user",
                "\(home)/.local/share/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
                "/lib/systemd/user",
            ]
            return folders + (value("XDG_RUNTIME_DIR").map { ["\($0)/systemd/user"] } ?? [])
        #endif
    }

    /// Whether the user has a service manager.
    package var hasServiceManager: Bool {
        #if os(macOS)
            true
        #else
            managerFolder.map { FileStatus("\($0)/private") != nil } ?? false
        #endif
    }

    /// The folder of the user's systemd; nil if the user has none.
    var managerFolder: String? { value("XDG_RUNTIME_DIR").map { "\($0)/systemd" } }

    private func isOn(_ name: String) -> Bool { !["0", "no", "off", "false"].contains(value(name)?.lowercased()) }

    private var hasDisplay: Bool {
        #if os(macOS)
            true
        #else
            value("DISPLAY") != nil || value("WAYLAND_DISPLAY") != nil
        #endif
    }

    private static var systemOpener: String {
        #if os(macOS)
            "open"
        #else
            "xdg-open"
        #endif
    }

    private var home: String { value("HOME") ?? "/nonexistent" }

    private func value(_ name: String) -> String? { variables[name]?.trimmedNonEmpty }
}
