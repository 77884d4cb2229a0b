internal import AgentSocket
internal import CAgentSystem
internal import PosixFiles

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The folder of one process in `/proc`: the files that every user may read. They describe this process even if its ID
/// is reused later. Linux only.
struct ProcessFolder: ~Copyable {
    private let folder: FileDescriptor

    /// Opens the folder of a process.
    ///
    /// - Throws: ESRCH if the process has ended.
    init(_ process: borrowing FileDescriptor, processID: Int32) throws(SystemError) {
        // The function closes the descriptor that it gets.
        let copy = fcntl(process.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw .last }
        let number = agent_open_process(copy, processID)
        guard number >= 0 else { throw SystemError(number: -number) }
        folder = try FileDescriptor(opened: number)
    }

    /// The folder of this process, also in the `/proc` of another PID namespace, where this process has another ID.
    static func own() throws(SystemError) -> ProcessFolder {
        ProcessFolder(folder: try FileDescriptor(directory: "/proc/self"))
    }

    /// The folder of process 1.
    static func first() throws(SystemError) -> ProcessFolder {
        ProcessFolder(folder: try FileDescriptor(directory: "/proc/1"))
    }

    private init(folder: consuming FileDescriptor) { self.folder = folder }

    /// The effective user ID of the process, also of one that hides its files; nil if the process has ended.
    var userID: UInt32? { (try? folder.status)?.owner }

    /// The fields of `status` that describe a sandbox.
    var status: ProcessStatus? { text("status", limit: 16 << 10).map(ProcessStatus.init) }

    /// The map of user IDs, which differs between the user namespaces that this process sees; empty where the kernel has no user
    /// namespaces, nil if the map cannot be read. Everybody may read it, also of a process that hides its root directory.
    var userMap: String? {
        do {
            return try content("uid_map", limit: 64 << 10)
        } catch {
            return error.number == ENOENT ? "" : nil
        }
    }

    /// The systemd unit of the process.
    var unit: String? { text("cgroup", limit: 64 << 10).flatMap(ControlGroup.unit) }

    var startTime: UInt64? { text("stat", limit: 4 << 10).flatMap(ProcessStart.time) }

    /// The name of the Snap that confines the process, according to its AppArmor profile.
    var snap: String? { text("attr/apparmor/current", limit: 4 << 10).flatMap(SandboxApp.snap) }

    private func text(_ name: String, limit: Int) -> String? { try? content(name, limit: limit) }

    private func content(_ name: String, limit: Int) throws(SystemError) -> String {
        let file = try FileDescriptor(opened: openat(folder.number, name, O_RDONLY | O_CLOEXEC))
        return String(decoding: try file.readStream(limit: limit), as: UTF8.self)
    }
}
