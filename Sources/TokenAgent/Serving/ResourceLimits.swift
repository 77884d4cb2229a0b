internal import CAgentSystem
internal import PosixFiles
package import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the process needs of the system, which is checked at the start: open files, the address space, and descriptors of processes; and
/// what shows its memory or its TLS connections to other processes.
package enum ResourceLimits {
    #if canImport(Glibc)
        private static let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        private static let addressSpace = __rlimit_resource_t(RLIMIT_AS.rawValue)
        private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        private static let processorTime = __rlimit_resource_t(RLIMIT_CPU.rawValue)
    #else
        private static let openFiles = RLIMIT_NOFILE
        private static let addressSpace = RLIMIT_AS
        private static let fileSize = RLIMIT_FSIZE
        private static let processorTime = RLIMIT_CPU
    #endif

    /// Raises the soft limit of open files to the hard limit, at most 65,536. Each connection is an open file, and the usual soft
    /// limit is 1,024.
    ///
    /// - Returns: the soft limit that is now in effect.
    @discardableResult
    package static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        guard getrlimit(openFiles, &limit) == 0 else { return 1024 }
        let before = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        return Int(setrlimit(openFiles, &limit) == 0 ? limit.rlim_cur : before)
    }

    /// Raises the soft limit of open files as `raiseOpenFiles` does, and checks that it is enough.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the hard limit is too low: SwiftNIO ends a process that has no descriptors left for its
    ///   event loop.
    package static func requireOpenFiles() throws(TokenError) -> Int {
        let limit = raiseOpenFiles()
        guard limit >= fewestOpenFiles else {
            throw TokenError(
                .agentUnavailable,
                "the limit of open files is \(limit), and the agent needs \(fewestOpenFiles); "
                    + "raise the hard limit (ulimit -H -n)")
        }
        return limit
    }

    /// Those of an agent without connections, and some for the store, token endpoints and a few apps.
    private static let fewestOpenFiles = 64

    /// Raises the soft limits of the size of files and of processor time to the hard limits. Those of the app that has started the agent are
    /// meant for the app: the agent could save no token of any app, or be ended by SIGXCPU.
    package static func raiseFileSizeAndProcessorTime() {
        for resource in [fileSize, processorTime] {
            var limit = rlimit()
            guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { continue }
            limit.rlim_cur = limit.rlim_max
            _ = setrlimit(resource, &limit)
        }
    }

    /// Raises the soft limit of the address space to the hard limit if it is too low.
    ///
    /// - Throws: `agentUnavailable` (-53004) if the hard limit is too low: an agent that has no room for another thread hangs, or SwiftNIO
    ///   ends it.
    package static func requireAddressSpace() throws(TokenError) {
        var limit = rlimit()
        guard getrlimit(addressSpace, &limit) == 0, limit.rlim_cur < leastAddressSpace else { return }
        limit.rlim_cur = limit.rlim_max
        guard limit.rlim_max >= leastAddressSpace, setrlimit(addressSpace, &limit) == 0 else {
            throw TokenError(
                .agentUnavailable,
                "the limit of the address space is \(limit.rlim_max >> 20) MiB, and the agent needs \(leastAddressSpace >> 20) MiB; "
                    + "raise the hard limit (ulimit -H -v)")
        }
    }

    /// For the stacks of its threads, the heaps that the C library reserves for them, and libcurl.
    private static let leastAddressSpace: rlim_t = 2 << 30

    /// Checks that there is room for the threads of the agent, and for the helper and its threads. The helper is started afterwards.
    ///
    /// - Throws: `agentUnavailable` (-53004) with the limits that there are.
    package static func requireThreads() throws(TokenError) {
        do throws(SystemError) { try ThreadRoom.require(mostThreads) } catch {
            throw TokenError(
                .agentUnavailable,
                "there is no room for the \(mostThreads) threads that the agent needs (\(error)); "
                    + ThreadRoom.remedy)
        }
    }

    /// Those of an agent that does all its kinds of work at the same time, and of its helper.
    private static let mostThreads: Int32 = 20

    /// Checks that the kernel gives descriptors of processes, by which peers are identified: with their sockets, since Linux 6.5, or by their
    /// IDs. Without them nothing would be known of any process, as of one in a sandbox.
    ///
    /// - Throws: `agentUnavailable` (-53004) with the reason.
    package static func requireProcessDescriptors() throws(TokenError) {
        #if os(Linux)
            try requireProcessDescriptors(agent_open_pidfd) { Self.socketsHaveProcessDescriptors }
        #endif
    }

    /// - Parameters:
    ///   - open: returns the descriptor of a process, or a negative number with `errno`.
    ///   - socketsHaveThem: whether the kernel gives those of the peers of sockets.
    static func requireProcessDescriptors(
        _ open: (Int32) -> Int32, socketsHaveThem: () -> Bool
    ) throws(TokenError) {
        let descriptor = open(getpid())
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        let problem = SystemError.last
        guard socketsHaveThem() else {
            throw TokenError(
                .agentUnavailable,
                "processes cannot be identified (pidfd_open: \(problem)); the agent needs Linux 5.3 or later, and in a container a seccomp "
                    + "filter that allows the call")
        }
    }

    private static var socketsHaveProcessDescriptors: Bool {
        guard let pair = try? SocketPair() else { return false }
        defer {
            close(pair.first)
            close(pair.second)
        }
        var (descriptor, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(pair.first, SOL_SOCKET, PeerAdmission.peerDescriptorOption, &descriptor, &size) == 0 else {
            return false
        }
        close(descriptor)
        return true
    }

    /// Disables core dumps of this process, attaching debuggers to it, and the file that `SSLKEYLOGFILE` names, to which libcurl
    /// would write the keys of TLS connections. Must be called before any other thread reads the environment.
    ///
    /// - Returns: false if the system refuses.
    package static func forbidInspection() -> Bool {
        unsetenv("SSLKEYLOGFILE")
        return agent_forbid_inspection() == 0
    }

    /// Whether core dumps, or debuggers of the same user, can show the memory of this process.
    package static var isInspectable: Bool { agent_is_inspectable() != 0 }
}
