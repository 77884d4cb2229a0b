public import TokenModel

extension AgentClient {
    /// The changes of accounts and of the agent's store, as they happen.
    ///
    /// ```swift
    /// for try await event in client.events(WatchEvents(clientID: clientID)) {
    ///     if event.kind == .resynchronise { accounts = try await client.listAccounts(…) }
    /// }
    /// ```
    ///
    /// Each iteration is a subscription of its own, with a connection and a thread; it ends when the iterating task is cancelled, or the
    /// iterator is released. The first event is `resynchronise`, unless `request` has a position at which the agent can continue. An agent
    /// that stops or restarts does not end the iteration: the client connects again, and continues with `resynchronise`. An agent that has
    /// stopped is not started again for a subscription: the next call of another method does that.
    ///
    /// - Parameter request: the accounts to watch. Without a client ID, these are the accounts of every app in the sharing group; sandboxed
    ///   apps, and apps at a published socket, have to name theirs.
    /// - Throws: when it is iterated, `agentUnavailable` (-53004) if no agent is running at the beginning and none can be started,
    ///   `requestDenied` (-53011) if the agent does not allow the subscription, or `unsupportedProtocolVersion` (-53003) if it knows no
    ///   events.
    public func events(_ request: WatchEvents = WatchEvents(clientID: nil)) -> AgentEvents {
        AgentEvents(agent: self, request: request)
    }
}

/// The events of an agent; see `AgentClient.events(_:)`.
public struct AgentEvents: AsyncSequence, Sendable {
    /// A change that the agent reports; see `AgentEvent`.
    public typealias Element = AgentEvent
    /// The error that ends an iteration.
    public typealias Failure = TokenError

    fileprivate let agent: AgentClient
    fileprivate let request: WatchEvents

    /// Creates a subscription, which begins with the first call of `next`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(agent: agent.withSeparateConnection(), request: request)
    }

    /// A subscription on a connection of its own, which it opens again if the connection breaks.
    public struct Iterator: AsyncIteratorProtocol {
        private let agent: AgentClient
        private var request: WatchEvents
        private var received: ArraySlice<AgentEvent> = []
        private var hasConnected = false
        private var hasEnded = false
        private var pause = Self.shortestPause

        fileprivate init(agent: AgentClient, request: WatchEvents) {
            self.agent = agent
            self.request = request
        }

        /// Waits for the next event; nil if the calling task is cancelled.
        ///
        /// - Throws: see `AgentClient.events(_:)`. There are no events after an error.
        public mutating func next() async throws(TokenError) -> AgentEvent? { try await next(isolation: nil) }

        /// Waits for the next event; nil if the calling task is cancelled.
        ///
        /// - Throws: see `AgentClient.events(_:)`. There are no events after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TokenError) -> AgentEvent? {
            while !hasEnded, !Task.isCancelled {
                if let event = received.popFirst() { return event }
                do throws(TokenError) {
                    let reply = try await agent.call(request, timeout: Self.requestTimeout)
                    (request.position, received) = (reply.position, reply.events[...])
                    (hasConnected, pause) = (true, Self.shortestPause)
                } catch {
                    try await handle(error)
                }
            }
            hasEnded = true
            agent.close()
            return nil
        }

        /// Waits if the agent may be restarting.
        private mutating func handle(_ error: TokenError) async throws(TokenError) {
            if error.code == .cancelled, Task.isCancelled { return }
            // The request itself has no reply as long as nothing happens.
            hasConnected = hasConnected || agent.connection.hasReceivedReply
            guard error.code == .agentUnavailable, hasConnected else {
                hasEnded = true
                agent.close()
                throw error
            }
            // There is no notification that an agent listens again: systems without inotify have no event for it, and a folder may not exist
            // yet. The pause is cut short when the task is cancelled.
            try? await Task.sleep(for: pause)
            pause = Swift.min(pause * 2, Self.longestPause)
        }

        private static let shortestPause = Duration.milliseconds(100)
        private static let longestPause = Duration.seconds(5)
        /// The time limit of a request that may wait as long as nothing happens.
        private static let requestTimeout = Duration.seconds(1 << 40)
    }
}
