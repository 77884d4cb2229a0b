package import Foundation

/// The options an emulator is started with. Settings that can change while it runs are in ``EmulatorSettings``.
package struct EmulatorOptions: Sendable {
    /// The port to listen on; with 0 the kernel chooses one.
    package var port: Int
    /// The number that all tenant IDs, object IDs and opaque tokens are derived from.
    package var seed: UInt64
    /// The users that exist from the start. Other users are created when a sign-in names them.
    package var usernames: [String]
    /// The certificate and key for HTTPS; nil serves plain HTTP.
    package var tls: TLSFiles?
    package var settings: EmulatorSettings
    /// Whether the requests are kept for ``EmulatorControl/requests``, which only this process can read.
    package var recordsRequests = true
    /// The emulator's clock, which decides the times in codes and tokens.
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

/// A certificate chain and its private key, both PEM files.
package struct TLSFiles: Sendable, Equatable {
    package var certificateChain: String
    package var privateKey: String

    package init(certificateChain: String, privateKey: String) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}
