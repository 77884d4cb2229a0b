/// Where the key that wraps the store's own key comes from. The numbers are on disk: never renumber or reuse one.
package enum KeySource: UInt8, Sendable, CaseIterable {
    /// A file of mode 0600 beside the store.
    case file = 1
    /// What the service manager hands over in `$CREDENTIALS_DIRECTORY`.
    case credential = 2
    /// The desktop's keyring, through its Secret Service.
    case secretService = 3
    /// What somebody knows, given once after each start.
    case passphrase = 4

    /// Its name on the command line and on the wire.
    package var name: String {
        switch self {
        case .file: "file"
        case .credential: "credential"
        case .secretService: "secret-service"
        case .passphrase: "passphrase"
        }
    }

    package init?(name: String) {
        guard let source = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = source
    }
}
