package import TokenModel

extension Store {
    /// Why the key's source would not open the store at the next start; nil when it would, and where it cannot be asked
    /// without a person.
    package func keyProblem() async -> TokenError? {
        (try? await onQueue { engine throws(TokenError) in engine.keyProblem() }) ?? nil
    }

    /// Lets go of a passphrase that did not open the store.
    package func forgetPassphrase() async {
        try? await onQueue { engine throws(TokenError) in engine.ring.settings.passphrase = nil }
    }
}

extension StoreEngine {
    /// Asks the source of the key that is in use.
    fileprivate func keyProblem() -> TokenError? {
        guard keys != nil, let wrapped, wrapped.source == .file || wrapped.source == .credential else { return nil }
        switch ring.open([wrapped]) {
        case .open: return nil
        case .locked(let error, _): return error
        case .wrong(let reason):
            return TokenError(.storeUnavailable, "\(reason); the store cannot be opened without it")
        }
    }
}
