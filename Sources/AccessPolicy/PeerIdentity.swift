internal import TokenModel

/// The process at the other end of a connection, as the kernel described it when the connection was accepted.
package struct PeerIdentity: Sendable, Equatable {
    /// The effective user ID.
    package var userID: UInt32
    /// The process ID; nil if the system does not report it.
    package var processID: Int32?
    /// The time at which the process started, in the kernel's ticks since boot; distinguishes two processes with one ID. Nil if
    /// the system does not report it.
    package var startTime: UInt64?
    /// The program; nil if the system does not report it, as for a process that forbids debuggers.
    package var executable: Executable?
    /// The systemd unit or scope, such as `backup.service`; nil if the process is in none.
    package var unit: String?
    /// The sandbox around the process; nil if there is none.
    package var sandbox: Sandbox?

    /// A program file.
    package struct Executable: Sendable, Equatable {
        /// The path at which the process sees the file.
        package var path: String
        /// Whether the file belongs to root, and nobody else may write to it.
        package var isInstalled: Bool
        /// Whether the agent sees the same file at the path. Checked for the paths in rules only.
        package var isAtPath: Bool

        package init(path: String, isInstalled: Bool, isAtPath: Bool) {
            self.path = path
            self.isInstalled = isInstalled
            self.isAtPath = isAtPath
        }
    }

    /// A sandbox: the process has other files or sees other processes than the agent.
    package struct Sandbox: Sendable, Equatable {
        /// The app, as `flatpak:org.contoso.Notes` or `snap:notes`; nil if the sandbox does not name it.
        package var app: String?

        package init(app: String?) { self.app = app }
    }

    package init(
        userID: UInt32, processID: Int32? = nil, startTime: UInt64? = nil, executable: Executable? = nil,
        sandbox: Sandbox? = nil
    ) {
        self.userID = userID
        self.processID = processID
        self.startTime = startTime
        self.executable = executable
        self.sandbox = sandbox
    }

    /// The class by which rules and the built-in policy decide.
    package var peerClass: PeerClass {
        if sandbox != nil { return .sandboxed }
        return executable?.isInstalled == true ? .installed : .other
    }

    /// A description for users and the log, without characters that a terminal would obey.
    package var description: String {
        let process = processID.map { "process \($0)" } ?? "a process"
        let name = sandbox?.app ?? (executable?.path).map { UntrustedText.clean($0, limit: 256) }
        return name.map { "\($0) (\(process))" } ?? process
    }
}

/// The classes of peers.
package enum PeerClass: String, Sendable, CaseIterable {
    /// A process in a sandbox or container, which keeps it from acting as the user's other processes.
    case sandboxed
    /// A program that belongs to root, and that the user cannot change.
    case installed
    /// Any other process of the user.
    case other
}
