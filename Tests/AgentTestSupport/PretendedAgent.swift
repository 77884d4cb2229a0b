internal import AgentSocket
internal import Foundation
internal import Synchronization
package import TokenModel
package import TokenWire

/// A process that answers requests in place of an agent: those of one connection, on a thread of its own.
package final class PretendedAgent: Sendable {
    /// nil once it is closed: another test may have its number then.
    private let listener: Mutex<Int32?>

    /// - Parameter reply: returns the frames to send after a request; nil for `hello`, which is answered as by an agent.
    package init(at path: String, _ reply: @escaping @Sendable (RequestFrame) throws -> [UInt8]?) throws {
        let listener = try UnixSocket.make()
        self.listener = Mutex(listener)
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
        guard isBound, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { [self] in
            let peer = accept(listener, nil, nil)
            try? Self.answer(peer, reply)
            close(peer)
            stopListening()
        }
    }

    /// An agent that has the response of the browser when its sign-in is cancelled: it ends then, with `result`.
    package static func endingSignIn(
        at path: String, with result: Result<TokenResult, TokenError>
    ) throws -> PretendedAgent {
        let state = Mutex<(completion: UInt64?, isCancelled: Bool)>((nil, false))
        return try PretendedAgent(at: path) { frame in
            let ending = { ReplyFrame.encode(result, to: CompleteInteractive.self, id: $0) }
            if let begun = frame.answer(BeginInteractive.self, with: .success(.sample)) { return begun }
            if (try? frame.request(CompleteInteractive.self)) != nil {
                let isCancelled = state.withLock { state in
                    state.completion = state.isCancelled ? nil : frame.id
                    return state.isCancelled
                }
                return isCancelled ? ending(frame.id) : [UInt8]()
            }
            let answer = frame.answer(CancelInteraction.self, with: .success(CancelInteraction.Reply()))
            guard let done = answer else { return nil }
            let completion = state.withLock { state in
                defer { state = (nil, true) }
                return state.completion
            }
            return (completion.map(ending) ?? []) + done
        }
    }

    /// Stops listening, and leaves the connection to its peer.
    package func end() { listener.withLock { if let listener = $0 { shutdown(listener, Int32(SHUT_RDWR)) } } }

    private func stopListening() {
        listener.withLock {
            if let listener = $0 { close(listener) }
            $0 = nil
        }
    }

    private static func answer(_ peer: Int32, _ reply: (RequestFrame) throws -> [UInt8]?) throws {
        var decoder = FrameDecoder(limit: WireLimits.requestFrame)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(peer, &buffer, buffer.count, 0), count > 0 {
            buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            while let bytes = try decoder.next() {
                let frame = try RequestFrame(decoding: Array(bytes))
                let answer = try reply(frame) ?? hello(frame)
                send(peer, answer, answer.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private static func hello(_ frame: RequestFrame) -> [UInt8] {
        let hello = Hello.Reply(protocolVersion: WireLimits.protocolVersion, agentVersion: "0", requests: [])
        return ReplyFrame.encode(.success(hello), to: Hello.self, id: frame.id)
    }
}

extension RequestFrame {
    /// The frame of the reply to a request of this type; nil if this is another request.
    package func answer<Request: WireRequest>(
        _ type: Request.Type, with outcome: Result<Request.Reply, TokenError>
    ) -> [UInt8]? {
        (try? request(type)) == nil ? nil : ReplyFrame.encode(outcome, to: type, id: id)
    }

    /// The answer of an agent that has these accounts, and tells the program nothing of their tokens; nil for other requests than lists.
    package func answerLists(with accounts: [Account]) -> [UInt8]? {
        answer(ListAccounts.self, with: .success(ListAccounts.Reply(accounts: accounts)))
            ?? answer(ListCredentials.self, with: .failure(TokenError(.requestDenied, "not for this program")))
    }
}

extension BeginInteractive.Reply {
    package static let sample = BeginInteractive.Reply(
        sessionID: "1", authorizationURL: "https://login.example.com/", redirectURI: "http://localhost:1",
        expiresIn: 600)
}
