#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The identity of a file among those that exist at the same time: its device, and its inode number there.
package struct FileIdentity: Sendable, Equatable {
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }

    /// Returns nil if there is no file with this path.
    ///
    /// - Parameter followsLinks: whether the target of a symbolic link is meant instead of the link.
    /// - Throws: if that cannot be found out.
    package init?(_ path: String, followsLinks: Bool = true) throws(SystemError) {
        guard let status = try look(at: path, followsLinks: followsLinks) else { return nil }
        self.init(status)
    }
}

extension FileIdentity {
    /// Returns nil if the descriptor is not open.
    package init?(ofDescriptor number: Int32) {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        self.init(status)
    }
}

/// The status of a file; nil if there is none.
///
/// - Throws: if that cannot be found out.
private func look(at path: String, followsLinks: Bool) throws(SystemError) -> stat? {
    var status = stat()
    if (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 { return status }
    let error = SystemError.last
    guard error.isFileMissing || error.number == ENOTDIR else { throw error }
    return nil
}

extension FileStatus {
    /// Whether there is a file with this path, or a link that leads nowhere.
    ///
    /// - Throws: if that cannot be found out.
    package static func exists(_ path: String) throws(SystemError) -> Bool {
        try FileIdentity(path, followsLinks: false) != nil
    }

    /// The status of the file that a path leads to; nil if there is none.
    ///
    /// - Throws: if that cannot be found out.
    static func read(_ path: String) throws(SystemError) -> FileStatus? {
        try look(at: path, followsLinks: true).map { FileStatus($0) }
    }

    /// Whether two paths lead to the same existing file.
    package static func isSameFile(_ path: String, _ other: String) -> Bool {
        guard let first = try? FileIdentity(path), let second = try? FileIdentity(other) else { return false }
        return first == second
    }
}

extension FileDescriptor {
    /// Whether a path leads to this file.
    package func isAt(_ path: String) -> Bool {
        guard let own = FileIdentity(ofDescriptor: number), let other = try? FileIdentity(path) else { return false }
        return own == other
    }
}
