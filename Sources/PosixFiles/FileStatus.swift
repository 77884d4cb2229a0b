#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The type, owner, mode and size of a file.
package struct FileStatus: Sendable, Equatable {
    package enum Kind: Sendable {
        case regular, directory, socket, symbolicLink, pipe, device, other
    }

    package let kind: Kind
    /// The user ID of the owner.
    package let owner: UInt32
    /// The group ID.
    let group: UInt32
    /// The permission bits.
    package let mode: UInt32
    /// The length in bytes.
    package let size: Int
    /// Whether the file has a name in a directory.
    let hasName: Bool

    /// Returns nil if the file does not exist or cannot be reached.
    ///
    /// - Parameter followsLinks: whether to describe the target of a symbolic link instead of the link.
    package init?(_ path: String, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// The absolute path of what a path leads to, without symbolic links; nil if that does not exist.
    package static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// The path to which a symbolic link leads; nil if there is no link at `path`.
    static func linkTarget(_ path: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// The path from the root on. A relative path begins at the current folder, which has to exist: see `isInRemovedFolder`.
    package static func absolutePath(_ path: String) -> String {
        isAbsolute(path) ? path : (realPath(".") ?? "") + "/" + path
    }

    /// Whether a path is relative, and the current folder has been removed, so that it can lead to no file.
    package static func isInRemovedFolder(_ path: String) -> Bool { !isAbsolute(path) && realPath(".") == nil }

    private static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFSOCK: .socket
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            case S_IFCHR, S_IFBLK: .device
            default: .other
            }
        owner = status.st_uid
        group = status.st_gid
        mode = UInt32(status.st_mode) & 0o7777
        size = Int(clamping: status.st_size)
        hasName = status.st_nlink > 0
    }

    /// Whether the effective user of this process is the owner.
    package var isOwn: Bool { owner == Self.effectiveUser }

    /// Whether the mode lets the group or other users write.
    package var isWritableByOthers: Bool { mode & 0o022 != 0 }

    /// Whether only the owner of an entry of this directory, and of the directory, can rename or delete it.
    package var isSticky: Bool { mode & 0o1000 != 0 }

    /// Whether the owner is the effective user of this process or root.
    package var isOwnOrRoots: Bool { isOwn || owner == 0 }

    /// Whether the mode lets the group or other users do anything.
    package var isAccessibleToOthers: Bool { mode & 0o077 != 0 }

    /// The effective user ID of this process.
    package static var effectiveUser: UInt32 { geteuid() }
}
