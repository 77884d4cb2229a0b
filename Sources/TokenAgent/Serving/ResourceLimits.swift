internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// What the process may use of the system.
package enum ResourceLimits {
    /// Takes as many open files as the hard limit gives: every connected app is one, and the usual soft limit is 1,024.
    ///
    /// - Returns: how many files may be open now.
    @discardableResult
    package static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        let before = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        return Int(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
    }

    /// Leaves no core dump of this process, and lets no debugger of the same user in.
    ///
    /// - Returns: false when the system refuses.
    package static func forbidInspection() -> Bool { agent_forbid_inspection() == 0 }

    /// Whether debuggers of the same user and core dumps could show what is in memory.
    package static var isInspectable: Bool { agent_is_inspectable() != 0 }
}
