package import Foundation

/// How an emulator starts. What may change while it runs is in ``EmulatorSettings``.
package struct EmulatorOptions: Sendable {
    /// Port to listen on; 0 lets the kernel choose one.
    package var port: Int
    /// Tenant IDs, object IDs and opaque tokens follow from this number alone.
    package var seed: UInt64
    /// Usernames that exist from the start. Others are made up when a sign-in names them.
    package var usernames: [String]
    /// Serve HTTPS with these files; nil serves plain HTTP.
    package var tls: TLSFiles?
    package var settings: EmulatorSettings
    /// The emulator's clock: what codes and tokens are stamped with.
    package var now: @Sendable () -> Date

    package init(
        port: Int = 0, seed: UInt64 = 1, usernames: [String] = [], tls: TLSFiles? = nil,
        settings: EmulatorSettings = EmulatorSettings(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.port = port
        self.seed = seed
        self.usernames = usernames
        self.tls = tls
        self.settings = settings
        self.now = now
    }
}
