internal import AgentClient
internal import AgentSocket
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// An agent that names a next page with every page, as a broken one could, or one of another user whom `SSO_AGENT_OWNER` names.
@Suite(.bounded) struct EndlessListTests {
    @Test func endsListsThatHaveNoEnd() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("agent.sock")
        let agent = try EndlessAgent(at: path)
        defer { agent.end() }
        let client = AgentClient(socketPath: path, appName: "test")
        let accounts = await #expect(throws: TokenError.self) {
            try await client.listAccounts(ListAccounts(clientID: nil))
        }
        #expect(accounts?.code == .malformedMessage)
        let credentials = #expect(throws: TokenError.self) {
            try client.listCredentialsAndWait(ListCredentials())
        }
        #expect(credentials?.code == .malformedMessage)
    }
}

/// Answers one connection on a thread of its own.
private final class EndlessAgent: Sendable {
    private let listener: Int32

    init(at path: String) throws {
        let listener = try UnixSocket.make()
        self.listener = listener
        _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
        let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
        guard isBound, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread {
            let peer = accept(listener, nil, nil)
            try? Self.answer(peer)
            close(peer)
            close(listener)
        }
    }

    func end() { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func answer(_ peer: Int32) throws {
        var decoder = FrameDecoder(limit: WireLimits.requestFrame)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = recv(peer, &buffer, buffer.count, 0), count > 0 {
            buffer.withUnsafeBytes { decoder.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            while let bytes = try decoder.next() {
                let reply = try reply(to: RequestFrame(decoding: Array(bytes)))
                send(peer, reply, reply.count, Int32(MSG_NOSIGNAL))
            }
        }
    }

    private static func reply(to frame: RequestFrame) throws -> [UInt8] {
        if (try? frame.request(ListAccounts.self)) != nil {
            return ReplyFrame.encode(
                .success(ListAccounts.Reply(accounts: [], next: "next")), to: ListAccounts.self, id: frame.id)
        }
        if (try? frame.request(ListCredentials.self)) != nil {
            return ReplyFrame.encode(
                .success(ListCredentials.Reply(credentials: [], next: "next")), to: ListCredentials.self, id: frame.id)
        }
        let hello = Hello.Reply(protocolVersion: WireLimits.protocolVersion, agentVersion: "0", requests: [])
        return ReplyFrame.encode(.success(hello), to: Hello.self, id: frame.id)
    }
}
