internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Whether this process is separated from the user's session, as an app in a sandbox is.
///
/// An agent that it started would be separated as well, and serve all of the user's apps: without the network, or without seeing which
/// app connects.
package enum SessionIsolation {
    /// What separates this process, as the predicate of a sentence; nil if nothing is known to.
    ///
    /// The references are the user's service manager, if one listens in the runtime folder, and process 1. An unprivileged process sees
    /// neither the mounts nor the process IDs of another user's process; so a container that has a process 1 of its own, and no socket
    /// of the manager's, counts as a session of its own.
    package static func reason(_ environment: AgentEnvironment = .current) -> String? {
        if let sandbox = environment.sandbox { return "runs in a \(sandbox)" }
        #if os(Linux)
            guard let own = kernelFile("/proc/self/status").map(ProcessStatus.init) else {
                return "cannot read /proc/self/status"
            }
            if own.namespaceDepth > 1 { return "has process IDs of its own" }
            if own.hasNoNewPrivileges { return "may gain no privileges (no_new_privs)" }
            var references = ["1"]
            switch manager(environment) {
            case .hidden: return "does not see the processes of the user's service manager"
            case .process(let id): references.append("\(id)")
            case .none: break
            }
            let namespaces = ProcessNamespaces("self")
            for reference in references {
                if let difference = namespaces.difference(from: ProcessNamespaces(reference)) {
                    return "has \(difference) of its own"
                }
            }
        #endif
        return nil
    }

    #if os(Linux)
        private enum Manager {
            case none
            case process(Int32)
            /// The process is in other namespaces of processes or users.
            case hidden
        }

        /// The user's service manager, as the kernel knows it by the socket on which it listens.
        private static func manager(_ environment: AgentEnvironment) -> Manager {
            guard let folder = environment.runtimeDirectory else { return .none }
            do {
                guard case .connected(let socket) = try UnixSocket.connect(to: "\(folder)/systemd/private") else {
                    return .none
                }
                defer { close(socket) }
                return try PeerCredentials(ofSocket: socket).processID.map { .process($0) } ?? .hidden
            } catch {
                return error.code == .peerNotAuthorized ? .hidden : .none
            }
        }
    #endif
}

#if os(Linux)
    /// The namespaces of a process, as far as this process may see them.
    private struct ProcessNamespaces {
        private static let names: [(file: String, text: String)] = [
            ("pid", "process IDs"), ("user", "user IDs"), ("net", "a network"), ("mnt", "mounts"),
        ]

        /// The identifiers of the namespaces, in the order of `names`. Those of another user's process cannot be read.
        private let links: [String?]
        /// The map of user IDs, which everybody may read.
        private let userMap: String?
        /// The number of a file of the network, which everybody may see. Each network has files of its own.
        private let network: UInt64?

        /// - Parameter process: an ID, or `self`.
        init(_ process: String) {
            links = Self.names.map { Self.target(of: "/proc/\(process)/ns/\($0.file)") }
            userMap = kernelFile("/proc/\(process)/uid_map")
            network = Self.fileNumber("/proc/\(process)/net/dev")
        }

        /// What this process has and the other has not; nil if there is no difference, or none can be seen.
        func difference(from other: ProcessNamespaces) -> String? {
            for (index, name) in Self.names.enumerated() {
                if let own = links[index], let link = other.links[index], own != link { return name.text }
            }
            if let userMap, let map = other.userMap, userMap != map { return "user IDs" }
            // Where a kernel numbers these files anew for each process or thread, the numbers say nothing.
            guard let network, let number = other.network, network != number,
                network == Self.fileNumber("/proc/thread-self/net/dev")
            else { return nil }
            return "a network"
        }

        private static func target(of link: String) -> String? {
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = readlink(link, &bytes, bytes.count)
            return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        }

        private static func fileNumber(_ path: String) -> UInt64? {
            var status = stat()
            return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
        }
    }

    /// The content of a file of the kernel; nil if this process may not read it.
    private func kernelFile(_ path: String) -> String? {
        guard let file = try? FileDescriptor(reading: path), let bytes = try? file.readStream(limit: 64 << 10) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }
#endif
