internal import TokenModel

/// How a store is opened.
package struct StoreOptions: Sendable {
    package var keys: KeySettings
    /// Seconds since 1970: for the names of quarantined files.
    package var now: @Sendable () -> Int64
    /// SQLite's way to the disk; nil is the system's. Tests put a worse one in.
    package var vfs: String?

    package init(keys: KeySettings = KeySettings(), vfs: String? = nil, now: @escaping @Sendable () -> Int64) {
        self.keys = keys
        self.vfs = vfs
        self.now = now
    }
}
