internal import Foundation
internal import TestSupport

/// A file system in memory, mounted for one test.
struct Tmpfs: ~Copyable {
    private let path: String

    static var isPossible: Bool { Sandbox.isPossible }

    init(at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard mount("tmpfs", path, "tmpfs", 0, "size=8m,mode=0700") == 0 else { throw POSIXError(.EPERM) }
    }

    func remount(_ mode: String) throws {
        let flags = UInt(MS_REMOUNT) | (mode == "ro" ? UInt(MS_RDONLY) : 0)
        guard mount("tmpfs", path, "tmpfs", flags, "size=8m,mode=0700") == 0 else { throw POSIXError(.EBUSY) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
