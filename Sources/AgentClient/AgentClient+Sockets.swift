public import TokenModel

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
