/// Where the key that wraps the store's own key comes from. The numbers are on disk and on the wire.
public enum KeySource: Int32, Sendable, CaseIterable {
    /// A file of mode 0600 beside the store: keeps a copy of the store alone from being read, and no more.
    case file = 1
    /// `sso-agent.key` in `$CREDENTIALS_DIRECTORY`, from a service manager that keeps it, sealed by a TPM for one.
    case credential = 2
    /// The desktop's keyring, through its Secret Service.
    case secretService = 3
    /// What somebody knows, given once after each start of the agent.
    case passphrase = 4

    /// Its name on the command line.
    public var name: String {
        switch self {
        case .file: "file"
        case .credential: "credential"
        case .secretService: "secret-service"
        case .passphrase: "passphrase"
        }
    }

    /// The source of that name; nil when there is none.
    public init?(name: String) {
        guard let source = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = source
    }
}
