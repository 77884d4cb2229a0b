internal import Logging
internal import NIOCore
internal import TokenModel
internal import TokenStore

extension CacheOwner {
    /// Where the store's key comes from.
    func keyStatus() -> Answer<KeyStatus> { .now(.success(currentKeyStatus)) }

    /// Has it come from elsewhere.
    func setKey(_ request: SetKey) -> Answer<KeyStatus> {
        if request.source == .passphrase, request.passphrase?.isEmpty ?? true {
            return .now(.failure(TokenError(.invalidDeveloperParameter, "the passphrase is empty")))
        }
        return .later(
            later { owner async throws(TokenError) in
                try await owner.store.changeKeySource(to: request.source, passphrase: request.passphrase)
                owner.options.logger.notice(
                    "the store's key has a new source", metadata: ["source": "\(request.source.name)"])
                return owner.currentKeyStatus
            })
    }

    /// Opens the store, if it is not.
    func unlock(_ request: Unlock) -> Answer<KeyStatus> {
        if case .done = opening { return keyStatus() }
        return .later(open(passphrase: request.passphrase).map { outcome in outcome.map { self.openKeyStatus } })
    }

    private var currentKeyStatus: KeyStatus {
        let report = store.report
        let problem: String? =
            switch report.phase {
            case .open: nil
            case .loading: "the store is being opened"
            case .locked(let error): error.message
            }
        return KeyStatus(
            source: report.keySource, place: report.keyPlace, isOpen: report.phase == .open, problem: problem)
    }

    private nonisolated var openKeyStatus: KeyStatus { assumeIsolated { $0.currentKeyStatus } }
}
