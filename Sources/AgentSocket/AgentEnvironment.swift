internal import PosixFiles
package import TokenModel

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

    /// The variables whose path may be relative to the folder in which the agent is started.
    package static let pathNames = [
        "SSO_AGENT_SOCK", "SSO_AGENT_STATE_DIR", "SSO_AGENT_CONFIG", "SSO_AGENT_SYSTEM_CONFIG", "SSL_CERT_FILE",
        "CREDENTIALS_DIRECTORY", "HOME",
    ]

    /// The variables that name a folder of the user, in which those of the agent are, and are ignored if it is relative.
    private static let folderNames = ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]

    /// What is wrong with these variables of this process, as a sentence; nil if nothing is.
    ///
    /// Swift reads a text that is not UTF-8 with U+FFFD for what cannot be read, as the path of another file.
    package static var problem: String? {
        let names = pathNames + folderNames
        if let name = names.first(where: { getenv($0).map { String(validatingCString: $0) == nil } ?? false }) {
            return "The variable \(name) is not UTF-8."
        }
        let name = pathNames.first { value($0).map(FileStatus.isInRemovedFolder) ?? false }
        return name.map { "The variable \($0) is a relative path, and the current folder has been removed." }
    }

    /// The value of a variable of this process; nil if it is not set or blank.
    package static func value(_ name: String) -> String? {
        getenv(name).flatMap { String(cString: $0).trimmedNonEmpty }
    }

    /// The path of the socket: `$SSO_AGENT_SOCK`, else `defaultSocketPath`.
    package var socketPath: String { value("SSO_AGENT_SOCK") ?? defaultSocketPath }

    /// The path of the socket if no variable names it: `sso-agent/agent.sock` in the runtime folder, else `run/agent.sock` in the
    /// directory of the store. Never in `/tmp`, where another user can make the directory first.
    package var defaultSocketPath: String {
        "\(runtimeDirectory.map { "\($0)/sso-agent" } ?? "\(stateDirectory)/run")/agent.sock"
    }

    /// The path at which the unit has the service manager listen; nil if there is no runtime folder.
    package var unitSocketPath: String? {
        #if os(macOS)
            defaultSocketPath
        #else
            runtimeDirectory == nil ? nil : defaultSocketPath
        #endif
    }

    /// The user's runtime folder: `$XDG_RUNTIME_DIR`, else that of the user's log-in sessions. Nil if there is none.
    package var runtimeDirectory: String? { folder("XDG_RUNTIME_DIR") ?? assumedRuntimeDirectory }

    /// The folder that systemd makes at log-in, `/run/user/UID`, if there is no variable, as in a program that cron or `su` has started:
    /// the user's agent listens there. It has to be the user's, and closed to others. Nil if there is a variable, or no such folder.
    package var assumedRuntimeDirectory: String? {
        #if os(Linux)
            let path = "/run/user/\(FileStatus.effectiveUser)"
            guard folder("XDG_RUNTIME_DIR") == nil, let status = FileStatus(path, followsLinks: false),
                status.kind == .directory, status.isOwn, !status.isAccessibleToOthers
            else { return nil }
            return path
        #else
            return nil
        #endif
    }

    /// The reason why the agent's socket cannot be in the runtime folder, with the remedy: the variable is that of another user, as after
    /// `su`. Nil if it is not, or another variable names the socket.
    package var runtimeFolderProblem: Problem? {
        guard value("SSO_AGENT_SOCK") == nil, let path = folder("XDG_RUNTIME_DIR"), let status = FileStatus(path),
            !status.isOwnOrRoots
        else { return nil }
        return Problem(
            "XDG_RUNTIME_DIR names \(path), which belongs to user \(status.owner), as after su",
            .run("unset XDG_RUNTIME_DIR"))
    }

    /// The ID of another user whose agent may listen on the socket, since that user has published it: `$SSO_AGENT_OWNER`. Nil for
    /// none.
    package var socketOwner: UInt32? { value("SSO_AGENT_OWNER").flatMap { UInt32($0) } }

    /// Whether the agent at the socket is one of this user's: no variable names another user.
    package var expectsOwnAgent: Bool { socketOwner == nil || socketOwner == FileStatus.effectiveUser }

    /// Checks that `$SSO_AGENT_OWNER`, if it is set, is the ID of a user.
    ///
    /// - Throws: `peerNotAuthorized` (-53005).
    package func requireSocketOwner() throws(TokenError) {
        guard let text = value("SSO_AGENT_OWNER"), socketOwner == nil else { return }
        throw TokenError(
            .peerNotAuthorized,
            "SSO_AGENT_OWNER is “\(UntrustedText.clean(text, limit: 80))”, which is not the ID of a user; set it to a number, such "
                + "as that which “id -u NAME” prints", .or("unset SSO_AGENT_OWNER"))
    }

    /// The directory of the store: `$SSO_AGENT_STATE_DIR`, else `$XDG_STATE_HOME/sso-agent`, else
    /// `~/.local/state/sso-agent`.
    package var stateDirectory: String {
        if let directory = value("SSO_AGENT_STATE_DIR") { return directory }
        return "\(folder("XDG_STATE_HOME") ?? "\(home)/.local/state")/sso-agent"
    }

    /// Whether a variable names the directory of the store.
    var namesStateDirectory: Bool { value("SSO_AGENT_STATE_DIR") != nil }

    /// The configuration file: `$SSO_AGENT_CONFIG`, else `$XDG_CONFIG_HOME/sso-agent/config.toml`, else the same under
    /// `~/.config`.
    package var configFile: String {
        if let file = value("SSO_AGENT_CONFIG") { return file }
        return "\(folder("XDG_CONFIG_HOME") ?? "\(home)/.config")/sso-agent/config.toml"
    }

    /// Whether `$SSO_AGENT_CONFIG` names the configuration file, so that its absence is an error.
    package var namesConfigFile: Bool { value("SSO_AGENT_CONFIG") != nil }

    /// The folder of the system's configuration: `$SSO_AGENT_SYSTEM_CONFIG`, else `/etc/sso-agent`.
    package var systemConfigFolder: String { value("SSO_AGENT_SYSTEM_CONFIG") ?? "/etc/sso-agent" }

    /// The commands that open a web page, in order of preference: `$BROWSER`, a colon-separated list in which `%s` stands for the URL, else
    /// that of the desktop if there is a display.
    package var browserCommands: [String] {
        guard let commands = value("BROWSER") else { return hasDisplay ? [Self.systemOpener] : [] }
        return commands.split(separator: ":").map(String.init)
    }

    /// Whether an app may keep access tokens in its own memory, and use them again without asking the agent: unless
    /// `$SSO_AGENT_KEEP_TOKENS` is `0`, `no`, `off` or `false`.
    package var keepsTokens: Bool { isEnabled("SSO_AGENT_KEEP_TOKENS") }

    /// Whether an app may start the agent if none is running: unless `$SSO_AGENT_START` is `0`, `no`, `off` or `false`, or
    /// `$SSO_AGENT_SOCK` names a socket, which somebody else serves.
    package var startsAgent: Bool { isEnabled("SSO_AGENT_START") && value("SSO_AGENT_SOCK") == nil }

    /// The program of the agent that an app may start: `$SSO_AGENT_EXECUTABLE`. Nil for the installed one.
    package var agentExecutable: String? { value("SSO_AGENT_EXECUTABLE") }

    /// The kind of sandbox that this process runs in, as far as its environment and its files show it; nil for none.
    var sandbox: String? {
        if FileStatus("/.flatpak-info") != nil { return "Flatpak" }
        return value("SNAP") == nil ? nil : "Snap"
    }

    /// The folders in which the service manager of the user finds its units; those in an earlier folder replace those in a later one.
    var unitFolders: [String] {
        #if os(macOS)
            return ["\(home)/Library/LaunchAgents", "/Library/LaunchAgents"]
        #else
            let configured = ["\(folder("XDG_CONFIG_HOME") ?? "\(home)/.config")/systemd/user", Self.globalUnitFolder]
            let installed = ["\(home)/.local/share", "/usr/local/lib", "/usr/lib", "/lib"].map { "\($0)/systemd/user" }
            return configured + [runtimeUnitFolder].compactMap(\.self) + installed
        #endif
    }

    /// The folder in which an administrator has units for all users.
    static let globalUnitFolder = "/etc/systemd/user"

    /// The folder of units that are gone after the user's last log-out; nil if there is none.
    var runtimeUnitFolder: String? { runtimeDirectory.map { "\($0)/systemd/user" } }

    /// Whether the service manager of the user runs.
    package var hasServiceManager: Bool {
        #if os(macOS)
            true
        #else
            runtimeDirectory.map { FileStatus("\($0)/systemd/private") != nil } ?? false
        #endif
    }

    /// Whether the system was started by a service manager, which then has one for each user who is logged in: sd_booted(3).
    var isRunByServiceManager: Bool {
        #if os(macOS)
            true
        #else
            FileStatus("/run/systemd/system", followsLinks: false)?.kind == .directory
        #endif
    }

    /// Whether a variable is anything but `0`, `no`, `off` or `false`.
    private func isEnabled(_ name: String) -> Bool { !["0", "no", "off", "false"].contains(value(name)?.lowercased()) }

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

    /// The absolute path of the home folder: `$HOME`, else that of the user in the password database, if it exists. Nil if there is none.
    package var homeFolder: String? { value("HOME").map(FileStatus.absolutePath) ?? Self.accountHome }

    /// Checks that there is a home folder, if a file or a folder of the agent would be in it.
    ///
    /// - Parameters:
    ///   - hasConfiguration: whether the configuration is named elsewhere, as on the command line.
    ///   - hasStore: whether the folder of the store is.
    /// - Throws: `invalidDeveloperParameter` (-51112) with the remedy.
    package func requireHome(hasConfiguration: Bool = false, hasStore: Bool = false) throws(TokenError) {
        let needsConfiguration = !hasConfiguration && !namesConfigFile && folder("XDG_CONFIG_HOME") == nil
        let needsStore = !hasStore && value("SSO_AGENT_STATE_DIR") == nil && folder("XDG_STATE_HOME") == nil
        guard homeFolder == nil, needsConfiguration || needsStore else { return }
        throw TokenError(
            .invalidDeveloperParameter,
            "HOME is not set, and the password database has no home folder of user \(FileStatus.effectiveUser)",
            .run("export HOME=FOLDER"))
    }

    /// The home folder of the user in the password database; nil if it does not exist.
    private static let accountHome: String? = {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(FileStatus.effectiveUser, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let folder = entry.pw_dir.map({ String(cString: $0) }), folder.hasPrefix("/"),
            FileStatus(folder)?.kind == .directory
        else { return nil }
        return folder
    }()

    /// Without a home folder, ``requireHome(hasConfiguration:hasStore:)`` fails before a path in it is used.
    private var home: String { homeFolder ?? "/nonexistent" }

    /// The folder in a variable of the XDG Base Directory Specification, which has relative ones ignored.
    private func folder(_ name: String) -> String? { value(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }

    private func value(_ name: String) -> String? { variables[name]?.trimmedNonEmpty }
}
