internal import TokenModel

/// The client description that Microsoft's libraries send to their identity providers, in header fields and in the query of an
/// authorization request. The names are theirs; the values describe this package, not the user or the machine.
enum ClientDescription {
    static let fields: [(name: String, value: String)] = [
        ("x-client-SKU", "sso-agent"), ("x-client-Ver", ProductVersion.text), ("x-client-OS", system),
    ]

    #if canImport(Darwin)
        private static let system = "darwin"
    #else
        private static let system = "linux"
    #endif
}
