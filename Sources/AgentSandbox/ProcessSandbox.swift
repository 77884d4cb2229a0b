internal import CAgentSandbox

/// The restrictions that the agent puts on its own process after its start: no privileges by set-user-ID programs, the files that
/// it needs (Landlock), and the system calls that it needs (seccomp). What an attacker may do who executes code in the agent is
/// limited to the same.
///
/// The paths are resolved when the process enters the sandbox: a folder that is replaced later is not accessible.
package struct ProcessSandbox: Sendable, Equatable {
    /// The operations that are allowed on the files below a path.
    package struct Access: OptionSet, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) { self.rawValue = rawValue }

        package static let read = Access(rawValue: Int32(SANDBOX_READ))
        package static let write = Access(rawValue: Int32(SANDBOX_WRITE))
        /// Create, rename and delete files and sockets.
        package static let create = Access(rawValue: Int32(SANDBOX_CREATE))
    }

    package struct Rule: Sendable, Equatable {
        package let path: String
        package let access: Access
    }

    package let rules: [Rule]
    /// Whether the kernel's keyrings can be used.
    package let allowsKeyrings: Bool

    /// - Parameters:
    ///   - folders: the folders of the agent's own files and socket.
    ///   - files: files that the configuration names, which may be replaced while the agent runs.
    ///   - home: the user's home folder, which is never readable as a whole, by whatever symbolic links a path leads to it.
    ///   - usesProxy: whether requests go through a proxy, which may ask for a Kerberos ticket.
    ///   - environment: the variables that name further files of the libraries in use.
    ///   - realPath: returns a path without symbolic links; nil if it leads to nothing.
    package init(
        folders: [String], files: [String], home: String, usesProxy: Bool, environment: [String: String],
        realPath: (String) -> String?
    ) {
        let realHome = realPath(home) ?? home
        func holdsHome(_ folder: String) -> Bool {
            Self.holds(folder, home) || Self.holds(realPath(folder) ?? folder, realHome)
        }
        var rules = Self.systemFolders.map { Rule(path: $0, access: .read) }
        rules.append(Rule(path: "/dev/null", access: [.read, .write]))
        rules += folders.map { Rule(path: $0, access: [.read, .write, .create]) }
        // A file that is replaced by another of its name is found only if its folder is readable.
        for file in files + Self.fileVariables.compactMap({ environment[$0] }) {
            let folder = Self.folder(of: file)
            rules.append(Rule(path: holdsHome(folder) ? file : folder, access: .read))
        }
        for list in Self.folderVariables.compactMap({ environment[$0] }) {
            let named = list.split(separator: ":").map(String.init).filter {
                $0.hasPrefix("/") && !holdsHome($0)
            }
            rules += named.map { Rule(path: $0, access: .read) }
        }
        if usesProxy {
            // Libraries write the tickets that they get into the file, which `kinit` replaces.
            rules.append(Rule(path: Self.ticketFolder(environment), access: [.read, .write]))
        }
        self.rules = rules
        allowsKeyrings = usesProxy
    }

    /// Restricts this process, which must not have started another thread yet: the files of one that runs already stay as they are.
    ///
    /// - Returns: what is in effect. The kernel may be too old for some of it.
    package func enter() -> SandboxState { enter(isAlone: sandbox_thread_count() == 1) }

    /// - Parameter isAlone: whether the calling thread is the only one, so that the files of no thread are left open.
    func enter(isAlone: Bool) -> SandboxState {
        let privileges = sandbox_forbid_privileges()
        let files = withPaths { sandbox_restrict_files($0.baseAddress, Int32($0.count)) }
        let calls = sandbox_restrict_calls(allowsKeyrings ? 1 : 0)
        return SandboxState(
            forbidsPrivileges: privileges == 0, restrictsFiles: files == 0 && isAlone, restrictsCalls: calls == 0)
    }

    /// Refuses this process new Unix sockets, now that it listens on its own: through the bus of the user's session it could have
    /// programs started. With a proxy they stay possible, since a service may keep the Kerberos tickets.
    ///
    /// - Returns: false if the kernel does not.
    @discardableResult
    package func closeUnixSockets() -> Bool { allowsKeyrings || sandbox_refuse_unix_sockets() == 0 }

    private func withPaths<Result>(_ body: (UnsafeBufferPointer<sandbox_rule>) -> Result) -> Result {
        // The paths are copied into one buffer, so that every rule has a pointer that stays valid.
        var bytes: [CChar] = []
        var starts: [Int] = []
        for rule in rules {
            starts.append(bytes.count)
            bytes += rule.path.utf8CString
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let entries = zip(rules, starts).compactMap { rule, start in
                buffer.baseAddress.map { sandbox_rule(path: $0 + start, access: rule.access.rawValue) }
            }
            return entries.withUnsafeBufferPointer(body)
        }
    }

    /// Where the system has its libraries, certificates and the settings of its resolver.
    private static let systemFolders = [
        "/bin", "/etc", "/gnu/store", "/lib", "/lib32", "/lib64", "/mnt/wsl", "/nix/store", "/opt", "/proc", "/sbin",
        "/sys", "/usr",
        "/dev/random", "/dev/urandom", "/run/NetworkManager", "/run/connman", "/run/netconfig", "/run/nscd",
        "/run/resolvconf",
        "/run/systemd", "/var/lib/ca-certificates", "/var/lib/sss",
    ]
    /// Variables of OpenSSL and Kerberos that name a file.
    private static let fileVariables = ["KRB5_CONFIG", "OPENSSL_CONF"]
    /// Variables that name folders: of libraries, and of the service manager's credentials.
    private static let folderVariables = ["CREDENTIALS_DIRECTORY", "LD_LIBRARY_PATH", "OPENSSL_MODULES"]

    private static func ticketFolder(_ environment: [String: String]) -> String {
        guard let name = environment["KRB5CCNAME"], name.hasPrefix("FILE:/") || name.hasPrefix("/") else {
            return "/tmp"
        }
        return folder(of: name.hasPrefix("FILE:") ? String(name.dropFirst(5)) : name)
    }

    private static func folder(of file: String) -> String {
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")), slash > file.startIndex else { return "/" }
        return String(file[..<slash])
    }

    /// Whether a folder is the user's home folder or holds it.
    private static func holds(_ folder: String, _ home: String) -> Bool {
        (home + "/").hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }
}

/// The restrictions that are in effect for this process.
package struct SandboxState: Sendable, Equatable {
    /// Whether no program that this process starts can gain privileges.
    package var forbidsPrivileges: Bool
    /// Whether only the files of the rules are accessible.
    package var restrictsFiles: Bool
    /// Whether the system calls that the agent does not need are refused.
    package var restrictsCalls: Bool

    /// No restriction.
    package static let off = SandboxState(forbidsPrivileges: false, restrictsFiles: false, restrictsCalls: false)

    /// The restrictions in effect, in words.
    package var summary: String {
        let parts = [
            (forbidsPrivileges, "new privileges are forbidden"), (restrictsFiles, "files are restricted (Landlock)"),
            (restrictsCalls, "system calls are restricted (seccomp)"),
        ]
        let on = parts.filter(\.0).map(\.1)
        return on.isEmpty ? "the process is not restricted" : on.joined(separator: ", ")
    }

    /// Whether everything is in effect.
    package var isComplete: Bool { forbidsPrivileges && restrictsFiles && restrictsCalls }
}
