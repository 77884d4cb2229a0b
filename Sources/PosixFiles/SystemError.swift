#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An error number of the system (`errno`), described in the system's words.
package struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    /// The error of the last system call of this thread.
    package static var last: SystemError { SystemError(number: errno) }

    /// The error for something other than a regular file where one is needed (ENXIO).
    package static let notRegular = SystemError(number: ENXIO)

    /// Whether the file does not exist (ENOENT).
    package var isFileMissing: Bool { number == ENOENT }

    /// Whether the process may not do that with the file (EACCES).
    package var isPermissionDenied: Bool { number == EACCES }

    /// Whether the disk, or the user's part of it, has no room left (ENOSPC, EDQUOT).
    var isDiskFull: Bool { number == ENOSPC || number == EDQUOT }

    package var description: String { String(cString: strerror(number)) }
}
