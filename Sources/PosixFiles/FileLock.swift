#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An advisory lock (`flock`) on an open file or directory. The kernel releases it when the process ends, however that happens.
package struct FileLock: ~Copyable {
    package enum Attempt: Sendable, Equatable {
        case acquired
        /// Another process, or another descriptor of this one, has the lock.
        case held
        /// The lock cannot be acquired, as on a file system without such locks (ENOLCK, EINVAL).
        case failed(SystemError)
    }

    package let file: FileDescriptor

    /// A lock on `file` that is not acquired yet.
    package init(_ file: consuming FileDescriptor) { self.file = file }

    deinit {
        // Closing is not enough: a child process that has not reached its exec yet has a copy of the descriptor.
        flock(file.number, LOCK_UN)
    }

    /// Tries to acquire the lock exclusively, without waiting.
    package func acquire() -> Attempt {
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return .held
            default: return .failed(.last)
            }
        }
        return .acquired
    }
}
