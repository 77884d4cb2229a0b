internal import AccessPolicy
internal import CAgentSystem
internal import PosixFiles
internal import Synchronization
internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Reads the attributes of processes that only a process which may trace them can read: the program, the root directory
/// and the Flatpak's file. The helper does this for an agent that has restricted its files.
struct PeerReader: Sendable {
    struct Facts: Sendable {
        /// The program; nil if the system does not report it, or if the file has been deleted.
        var executable: PeerIdentity.Executable?
        /// Whether the process has the root directory of this one; nil if the system does not report it.
        var hasSameRoot: Bool?
    }

    private let executables: Set<ExactText>
    private let lanes: Lanes?

    /// - Parameter executables: the paths for which to check that this process sees the same file there.
    init(executables: Set<ExactText>, helper: HelperProcess?) {
        self.executables = executables
        lanes = helper.map { Lanes($0.inspection) }
    }

    /// Describes a process. The error is ESRCH if it has ended.
    ///
    /// - Parameter pidfd: a descriptor of the process: what was read of its ID is of another one if the process has ended.
    func facts(of processID: Int32, _ pidfd: borrowing FileDescriptor) -> Result<Facts, SystemError> {
        var found = agent_process()
        let code: Int32
        if let lanes {
            code = lanes.use { agent_ask_to_describe($0, processID, &found) } ?? EIO
        } else {
            code = CStrings.withPointers(executables.map(\.text)) { agent_describe_process(processID, $0, &found) }
        }
        guard code == 0 else { return .failure(SystemError(number: code)) }
        guard agent_has_ended(pidfd.number) == 0 else { return .failure(SystemError(number: ESRCH)) }
        var facts = Facts(executable: nil, hasSameRoot: found.has_same_root < 0 ? nil : found.has_same_root == 1)
        var bytes = [CChar](repeating: 0, count: Int(AGENT_PATH_LIMIT) + 1)
        agent_copy_path(&found, &bytes)
        let path = String(validating: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        if let path, !path.isEmpty, found.has_executable != 0 {
            facts.executable = PeerIdentity.Executable(
                path: path, isInstalled: found.owner == 0 && found.mode & 0o022 == 0, isAtPath: found.is_at_path == 1)
        }
        return .success(facts)
    }

    /// The Flatpak app of a process, as for `facts`. May wait for a file server that belongs to the process.
    func flatpak(of processID: Int32, _ pidfd: borrowing FileDescriptor) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(AGENT_FLATPAK_LIMIT))
        let count: Int32
        if let lanes {
            count = lanes.use { agent_ask_for_flatpak_info($0, processID, &bytes, bytes.count) } ?? -EIO
        } else {
            count = agent_read_flatpak_info(processID, &bytes, bytes.count)
        }
        guard count > 0, agent_has_ended(pidfd.number) == 0 else { return nil }
        return SandboxApp.flatpak(
            String(decoding: bytes.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}

extension PeerReader {
    /// The helper's sockets for descriptions, of which each thread uses one at a time.
    private final class Lanes: Sendable {
        private let free: Mutex<[Int32]>

        init(_ lanes: [Int32]) { free = Mutex(lanes) }

        /// Calls `body` with a free socket. Nil if there is none: there are as many as threads.
        func use<Value>(_ body: (Int32) -> Value) -> Value? {
            guard let lane = free.withLock({ $0.popLast() }) else { return nil }
            defer { free.withLock { $0.append(lane) } }
            return body(lane)
        }
    }
}
