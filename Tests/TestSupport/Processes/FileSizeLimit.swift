#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The size of files that this process may write (`RLIMIT_FSIZE`): a longer write fails, as on a full disk.
package enum FileSizeLimit {
    /// Sets the limit, which holds for the process: for a test that has one of its own.
    ///
    /// - Parameter bytes: nil removes the limit.
    package static func set(_ bytes: Int?) {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        // The signal would end the process.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(resource, &limit)
        limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
        setrlimit(resource, &limit)
    }
}
