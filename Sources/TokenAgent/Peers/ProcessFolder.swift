internal import AccessPolicy
internal import CAgentSystem
internal import PosixFiles
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The folder of one process in `/proc`: what it says is of that process, even if its ID is reused later. Linux only.
struct ProcessFolder: ~Copyable {
    private let folder: FileDescriptor

    /// Opens the folder of the process at the other end of a socket.
    ///
    /// - Parameter pidfd: the socket's `SO_PEERPIDFD`, which this closes; negative if the kernel has none.
    /// - Throws: ESRCH if the process has ended.
    init(pidfd: Int32, processID: Int32) throws(SystemError) {
        let number = agent_open_process(pidfd, processID)
        guard number >= 0 else { throw SystemError(number: -number) }
        folder = try FileDescriptor(opened: number)
    }

    /// The folder of this process.
    static func own() throws(SystemError) -> ProcessFolder {
        try ProcessFolder(pidfd: -1, processID: getpid())
    }

    /// Whether the process has the root directory of this one; nil if the system does not tell.
    var hasSameRoot: Bool? {
        let code = agent_has_same_root(folder.number)
        return code < 0 ? nil : code == 1
    }

    /// The fields of `status` that tell about a sandbox.
    var status: ProcessStatus? { text("status", limit: 16 << 10).map(ProcessStatus.init) }

    /// The systemd unit of the process.
    var unit: String? { text("cgroup", limit: 64 << 10).flatMap(ControlGroup.unit) }

    /// The fields of `stat`: the start, and the controlling terminal.
    var times: ProcessTimes? { text("stat", limit: 4 << 10).flatMap(ProcessTimes.init) }

    /// The name of the Snap that confines the process, according to its AppArmor profile.
    var snap: String? { text("attr/apparmor/current", limit: 4 << 10).flatMap(SandboxApp.snap) }

    /// The Flatpak app of the process. May wait for a file server that belongs to the process.
    var flatpak: String? {
        let number = agent_open_flatpak_info(folder.number)
        guard number >= 0, let file = try? FileDescriptor(opened: number) else { return nil }
        guard let bytes = try? file.readToEnd(limit: 64 << 10) else { return nil }
        return SandboxApp.flatpak(String(decoding: bytes, as: UTF8.self))
    }

    /// The program; nil if the system does not tell, or if the file has been deleted.
    ///
    /// - Parameter paths: the paths for which to check that this process sees the same file there.
    func executable(checking paths: Set<String>) -> PeerIdentity.Executable? {
        guard let path = link("exe") else { return nil }
        var file = agent_executable()
        let code = agent_inspect_executable(folder.number, paths.contains(path) ? path : nil, &file)
        guard code == 0, file.is_deleted == 0 else { return nil }
        return PeerIdentity.Executable(
            path: path, isInstalled: file.owner == 0 && file.mode & 0o022 == 0, isAtPath: file.is_at_path == 1)
    }

    private func link(_ name: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlinkat(folder.number, name, $0, text.count) } ?? -1
            }
        }
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count], as: UTF8.self)
    }

    private func text(_ name: String, limit: Int) -> String? {
        guard let file = try? FileDescriptor(opened: openat(folder.number, name, O_RDONLY | O_CLOEXEC)) else {
            return nil
        }
        return (try? file.readStream(limit: limit)).map { String(decoding: $0, as: UTF8.self) }
    }
}
