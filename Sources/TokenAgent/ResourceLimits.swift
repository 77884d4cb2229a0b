internal import Foundation

/// What the process may use of the system.
package enum ResourceLimits {
    /// Takes as many open files as the hard limit gives: every connected app is one, and the usual soft limit is 1,024.
    package static func raiseOpenFiles() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(resource, &limit)
    }
}
