public import TokenModel
internal import TokenWire

extension AgentClient {
    /// Where the key of the agent's store comes from, and whether the store is open.
    public func keyStatus() async throws(TokenError) -> KeyStatus {
        return try await call(GetKey())
    }

    /// Has the store's key come from another source from now on; what the old one held is taken back.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the source has no key to give, or the store cannot be written;
    ///   `invalidDeveloperParameter` (-51112) for a passphrase that is missing or empty.
    @discardableResult
    public func setKey(_ request: SetKey) async throws(TokenError) -> KeyStatus {
        return try await call(request)
    }

    /// Has the agent open its store; done also when it is open.
    ///
    /// - Throws: `storeUnavailable` (-53008) when the passphrase is wrong, or the key's source does not answer.
    @discardableResult
    public func unlock(_ request: Unlock) async throws(TokenError) -> KeyStatus {
        return try await call(request)
    }
}
