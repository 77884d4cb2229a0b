internal import CAgentSystem

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The limits of the process: open files, and what shows its memory or its TLS connections to other processes.
package enum ResourceLimits {
    /// Raises the soft limit of open files to the hard limit, at most 65,536. Each connection is an open file, and the usual soft
    /// limit is 1,024.
    ///
    /// - Returns: the soft limit that is now in effect.
    @discardableResult
    package static func raiseOpenFiles() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 1024 }
        let before = limit.rlim_cur
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        return Int(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
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
