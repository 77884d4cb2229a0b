internal import Crypto
internal import TokenModel

/// The desktop's keyring (Secret Service), through libsecret's own program. Used only where somebody chose it.
struct SecretTool {
    let program: String
    /// Tells this store's key from another's.
    let store: String

    private var attributes: [String] { ["application", "sso-agent", "store", store] }

    /// The key in the keyring; nil when there is none, or when it does not answer: the program does not say which.
    func read() throws(TokenError) -> SymmetricKey? {
        var ended = try run(["lookup"] + attributes, input: [])
        defer { ended.output.wipe() }
        return ended.status == 0 ? KeyText.key(in: ended.output) : nil
    }

    func write(_ key: SymmetricKey) throws(TokenError) {
        var line = KeyText.bytes(of: key)
        defer { line.wipe() }
        let ended = try run(["store", "--label=sso-agent"] + attributes, input: line)
        guard ended.status == 0 else { throw unavailable }
    }

    func clear() throws(TokenError) {
        _ = try run(["clear"] + attributes, input: [])
    }

    private func run(_ words: [String], input: [UInt8]) throws(TokenError) -> PipedProcess.Ended {
        guard let ended = PipedProcess.run([program] + words, input: input, seconds: 60) else {
            throw TokenError(
                .storeUnavailable,
                "the store's key is in the Secret Service, and \(program) is missing; install libsecret-tools")
        }
        return ended
    }

    var unavailable: TokenError {
        TokenError(
            .storeUnavailable,
            "the Secret Service does not give the store's key; unlock the keyring, then run: ssoctl unlock")
    }
}
