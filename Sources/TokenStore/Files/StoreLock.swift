internal import TokenModel

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Keeps a second agent away from the store, whatever happens to the files in it. The kernel drops it with the process.
///
/// SQLite's own locks are no such thing: the kernel drops them as soon as the process closes any descriptor of the file,
/// as it does after reading a damaged one.
struct StoreLock: ~Copyable {
    private let descriptor: Int32

    /// - Throws: `storeUnavailable` when another store has the directory.
    init(_ directory: String) throws(TokenError) {
        descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw TokenError(.storeUnavailable, "cannot open \(directory): \(String(cString: strerror(errno)))")
        }
        // A file system without such locks (ENOLCK, EINVAL) leaves it to SQLite's own.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            close(descriptor)
            throw TokenError(
                .storeUnavailable, "the store in \(directory) is in use by another process; stop the other sso-agent")
        }
    }

    deinit {
        // By name, since a process that is just being started may hold a copy of the descriptor for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
