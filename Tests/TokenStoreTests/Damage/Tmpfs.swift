internal import Foundation
internal import TestSupport

/// A file system in memory, mounted for one test.
struct Tmpfs: ~Copyable {
    private let path: String

    static var isPossible: Bool { Sandbox.isPossible }

    /// - Parameter inodes: the number of files and directories for which there is room; nil for as many as usual.
    init(at path: String, inodes: Int? = nil) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard Self.attach(path, inodes: inodes) else { throw POSIXError(.EPERM) }
    }

    func remount(_ mode: String) throws {
        guard Self.attach(path, remountedAs: mode) else { throw POSIXError(.EBUSY) }
    }

    #if os(Linux)
        deinit { umount2(path, Int32(MNT_DETACH)) }

        private static func attach(_ path: String, remountedAs mode: String? = nil, inodes: Int? = nil) -> Bool {
            let flags = mode.map { UInt(MS_REMOUNT) | ($0 == "ro" ? UInt(MS_RDONLY) : 0) } ?? 0
            let limit = inodes.map { ",nr_inodes=\($0)" } ?? ""
            return mount("tmpfs", path, "tmpfs", flags, "size=8m,mode=0700" + limit) == 0
        }
    #else
        private static func attach(_ path: String, remountedAs mode: String? = nil, inodes: Int? = nil) -> Bool {
            false
        }
    #endif
}
