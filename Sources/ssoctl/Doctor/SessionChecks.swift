internal import AgentConfiguration
internal import AgentSocket
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Checks of the user's session, in which the agent runs. None of them makes a request to a network.
enum SessionChecks {
    /// Every check that applies to this system.
    static var all: [HealthCheck] { [serviceUnit, linger, appSandbox, secretService].compactMap(\.self) }

    /// Whether the service manager starts the agent.
    private static var serviceUnit: HealthCheck {
        let name = "service unit"
        let environment = AgentEnvironment.current
        if AgentEnvironment.value("SSO_AGENT_SOCK") != nil {
            return HealthCheck(name: name, ok: true, detail: "not used: SSO_AGENT_SOCK names the socket")
        }
        let state = ServiceUnit.state(environment)
        guard state != .notInstalled else {
            let reason = environment.hasServiceManager ? "not installed" : "this session has no service manager"
            if let obstacle = obstacleToStart(environment) {
                return HealthCheck(name: name, ok: true, detail: "\(reason), and \(obstacle.what)", hint: obstacle.hint)
            }
            return HealthCheck(name: name, ok: true, detail: "\(reason); programs start the agent when they need it")
        }
        if state == .masked {
            return HealthCheck(
                name: name, ok: false, detail: "it is masked, so that neither it nor programs start the agent",
                hint: ServiceUnit.startCommand(environment))
        }
        guard state == .reachable else {
            return HealthCheck(
                name: name, ok: false, detail: "it is installed, and no service manager of yours is running",
                hint: "log in, or have one always run: loginctl enable-linger")
        }
        #if os(Linux)
            return systemdUnits(name)
        #else
            return HealthCheck(name: name, ok: true, detail: "installed")
        #endif
    }

    /// What keeps programs from starting the agent where no service manager does; nil if nothing.
    private static func obstacleToStart(_ environment: AgentEnvironment) -> (what: String, hint: String)? {
        if !environment.startsAgent {
            let hint = "start the agent at log-in, or unset SSO_AGENT_START"
            return ("SSO_AGENT_START keeps programs from starting the agent", hint)
        }
        if FileStatus.effectiveUser == 0 { return ("no program starts the agent for root", "sso-agent &") }
        guard let settings = try? Settings.read(), !settings.configuration.mayBeStartedOnDemand else { return nil }
        return (
            "agent.start_on_demand of the configuration keeps programs from starting the agent",
            "start the agent at log-in, or remove start_on_demand"
        )
    }

    /// The state of the socket's unit and of the service's, as systemd reports it.
    private static func systemdUnits(_ name: String) -> HealthCheck {
        let units = ["sso-agent.socket", "sso-agent.service"]
        let command = ["systemctl", "--user", "show", "--property=Id,UnitFileState,ActiveState"] + units
        guard let text = Program.output(of: withRuntimeFolder + command) else {
            let hint = (withRuntimeFolder + ["systemctl", "--user", "status"]).joined(separator: " ")
            return HealthCheck(name: name, ok: false, detail: "systemd does not answer", hint: hint)
        }
        let states = UnitState.parse(text)
        guard let socket = states["sso-agent.socket"], let service = states["sso-agent.service"] else {
            return HealthCheck(
                name: name, ok: false, detail: "systemd does not know it",
                hint: (withRuntimeFolder + ["systemctl", "--user", "daemon-reload"]).joined(separator: " "))
        }
        if socket.isActive {
            let path = AgentEnvironment.current.unitSocketPath
            guard path.map({ FileStatus($0, followsLinks: false)?.kind == .socket }) ?? true else {
                let hint = withRuntimeFolder + ["systemctl", "--user", "restart", "sso-agent.socket"]
                return HealthCheck(
                    name: name, ok: false, detail: "sso-agent.socket is active, and the file of its socket is gone",
                    hint: hint.joined(separator: " "))
            }
            let isEnabled = socket.isEnabled
            return HealthCheck(
                name: name, ok: true,
                detail: "sso-agent.socket is active\(isEnabled ? " and enabled" : ", but not after the next log-in")",
                hint: isEnabled ? nil : ServiceUnit.startCommand())
        }
        if service.isActive {
            return HealthCheck(
                name: name, ok: true, detail: "sso-agent.service is active; nothing starts it again if it is stopped",
                hint: ServiceUnit.startCommand())
        }
        return HealthCheck(
            name: name, ok: false,
            detail: "sso-agent.socket is installed, so that programs start no agent, and it is not active",
            hint: ServiceUnit.startCommand())
    }

    /// The words before a command that finds the user's service manager or D-Bus by the variable of the runtime folder only; none if
    /// the variable is set.
    private static var withRuntimeFolder: [String] {
        AgentEnvironment.current.assumedRuntimeDirectory.map { ["env", "XDG_RUNTIME_DIR=\($0)"] } ?? []
    }

    /// Whether the agent keeps running after a log-out.
    private static var linger: HealthCheck? {
        #if os(Linux)
            guard FileStatus("/run/systemd/system") != nil, let entry = getpwuid(FileStatus.effectiveUser) else {
                return nil
            }
            let isOn = FileStatus("/var/lib/systemd/linger/\(String(cString: entry.pointee.pw_name))") != nil
            return HealthCheck(
                name: "linger", ok: true,
                detail: isOn ? "on: the agent goes on after a log-out" : "off: the agent ends with the last session",
                hint: isOn ? nil : "for services and cron jobs that need tokens: loginctl enable-linger")
        #else
            return nil
        #endif
    }

    /// Whether this program is in a sandbox, and would start an agent that no program outside of it can use.
    private static var appSandbox: HealthCheck {
        let name = "app sandbox"
        guard let reason = SessionIsolation.reason() else {
            return HealthCheck(name: name, ok: true, detail: "none that this program can see")
        }
        return HealthCheck(
            name: name, ok: true,
            detail: "this program \(reason); it starts no agent, and one outside serves it by a rule",
            hint: "outside, add a [[rule]] for the app, or run: ssoctl publish")
    }

    /// Whether the desktop's keyring can be reached. It is no failure: other keys are possible, and the agent checks its own.
    private static var secretService: HealthCheck? {
        #if os(Linux)
            let name = "secret service"
            let isUsable = "the key can come from the desktop's keyring"
            let runtime = AgentEnvironment.current.runtimeDirectory
            let hasBus =
                AgentEnvironment.value("DBUS_SESSION_BUS_ADDRESS") != nil
                || runtime.map { FileStatus("\($0)/bus") != nil } ?? false
            guard hasBus else {
                return HealthCheck(name: name, ok: true, detail: "there is no D-Bus session, and so no keyring")
            }
            let path = AgentEnvironment.value("PATH") ?? "/usr/bin:/bin"
            guard path.split(separator: ":").contains(where: { FileStatus("\($0)/secret-tool") != nil }) else {
                return HealthCheck(
                    name: name, ok: true, detail: "D-Bus is there, the program secret-tool is not",
                    hint: "to keep the key in the keyring, install secret-tool (Debian: libsecret-tools)")
            }
            let question = [
                "busctl", "--user", "--timeout=1", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus", "NameHasOwner", "s", "org.freedesktop.secrets",
            ]
            switch Program.output(of: withRuntimeFolder + question)?.contains("true") {
            case true?: return HealthCheck(name: name, ok: true, detail: isUsable)
            case false?:
                return HealthCheck(name: name, ok: true, detail: "D-Bus is there, but no keyring is running")
            case nil: return HealthCheck(name: name, ok: true, detail: "D-Bus is there; busctl does not tell more")
            }
        #else
            return nil
        #endif
    }
}

/// The state of a unit of systemd.
struct UnitState: Equatable {
    let isActive: Bool
    let isEnabled: Bool

    /// Reads what `systemctl show` prints of several units.
    static func parse(_ text: String) -> [String: UnitState] {
        var states: [String: UnitState] = [:]
        for block in text.split(separator: "\n\n") {
            var values: [Substring: Substring] = [:]
            for line in block.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { values[parts[0]] = parts[1] }
            }
            guard let name = values["Id"] else { continue }
            states[String(name)] = UnitState(
                isActive: values["ActiveState"] == "active",
                isEnabled: values["UnitFileState"]?.hasPrefix("enabled") == true)
        }
        return states
    }
}
