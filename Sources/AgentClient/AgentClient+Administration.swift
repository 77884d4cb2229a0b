internal import AgentSocket
public import TokenModel
internal import TokenWire

/// Requests about published sockets.
extension AgentClient {
    /// Publishes a socket, on which the agent serves tokens of some apps to a sandbox, a container or other users. A person may have to
    /// confirm it, which the call waits for.
    ///
    /// - Throws: `requestDenied` (-53011) if it is not confirmed, `invalidDeveloperParameter` (-51112) if the socket cannot be made at
    ///   the path or a value is not possible, `accountNotFound` (-53010) or `ambiguousAccount` (-51200) if the account is not exactly one.
    @discardableResult
    public func publishSocket(_ request: PublishSocket) async throws(TokenError) -> PublishedSocket {
        return try await call(request, timeout: Self.confirmationLimit)
    }

    /// Lists the published sockets, the oldest first.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func listSockets() async throws(TokenError) -> [PublishedSocket] {
        return try await call(ListSockets()).sockets
    }

    /// Closes a published socket and its connections, and removes its file.
    ///
    /// - Returns: the socket's label; nil if there was no such socket.
    /// - Throws: as every call; see `AgentClient`.
    @discardableResult
    public func unpublishSocket(_ request: UnpublishSocket) async throws(TokenError) -> String? {
        return try await call(request).label
    }
}

/// Requests about the key of the agent's store.
extension AgentClient {
    /// Reports where the key of the agent's store comes from, and whether the store is open.
    ///
    /// - Throws: as every call; see `AgentClient`.
    public func keyStatus() async throws(TokenError) -> KeyStatus {
        return try await keyStatus(after: GetKey())
    }

    /// Changes the source of the store's key, and the key itself. The former key is then removed from its source. A person may have to
    /// confirm it, which the call waits for.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the source has no key or is not the one that the agent requires, the store cannot be
    ///   written, or a file in quarantine may need the former key; `invalidDeveloperParameter` (-51112) if the new passphrase is missing or
    ///   has fewer than 8 characters; `requestDenied` (-53011) if the current passphrase is missing or wrong, a wrong one was sent in the
    ///   last five seconds, or nobody has confirmed the change. Nothing has changed then. With `agentUnavailable` (-53004) or `timedOut`
    ///   (-53006), the key may have changed.
    @discardableResult
    public func setKey(_ request: SetKey) async throws(TokenError) -> KeyStatus {
        do throws(TokenError) {
            return try await keyStatus(after: request, timeout: Self.confirmationLimit)
        } catch {
            // The advice to try again would be wrong: another passphrase may be the current one.
            throw error == AgentConnection.gone ? AgentConnection.lostKeyChange : error
        }
    }

    /// The time limit of a request that a person may have to confirm: that of eight questions, which are asked one after the other for a
    /// minute each, and of the work that follows.
    static let confirmationLimit = Duration.seconds(600)

    /// Opens the agent's store; succeeds also if it is open.
    ///
    /// - Throws: `storeUnavailable` (-53008) if the passphrase is wrong, or the source of the key does not answer.
    @discardableResult
    public func unlock(_ request: Unlock) async throws(TokenError) -> KeyStatus {
        return try await keyStatus(after: request)
    }

    /// Locks the agent's store: it forgets the key and every token until `unlock(_:)`. Succeeds also if the store is locked.
    ///
    /// Sign-ins, imports and exports in progress end. Responses of token endpoints that are on their way are waited for and saved.
    ///
    /// - Parameter limit: how long to wait for these responses.
    /// - Throws: `storeUnavailable` (-53008) if tokens would be lost that are not on the disk yet or any more; the store stays open then.
    @discardableResult
    public func lock(limit: Duration = .seconds(180)) async throws(TokenError) -> KeyStatus {
        return try await keyStatus(after: Lock(), timeout: limit)
    }

    /// Sends a request that is answered with the state of the key. As in a failure, no command is taken from another user's agent.
    private func keyStatus<Request: WireRequest>(
        after request: Request, timeout limit: Duration? = nil
    ) async throws(TokenError) -> KeyStatus where Request.Reply == KeyStatus {
        var status = try await call(request, timeout: limit)
        if !AgentEnvironment.current.expectsOwnAgent { status.nextCommand = nil }
        return status
    }
}
