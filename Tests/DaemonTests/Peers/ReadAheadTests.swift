internal import AgentSocket
internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

#if os(Linux)
    /// What an app sends before the agent has come to it.
    @Suite(.bounded) struct ReadAheadTests {
        private static let connections = 100
        /// The bytes that each connection sends.
        private static let size = 2 << 20

        /// Requests that wait for their peer's turn stay in its sockets: the agent's memory does not grow with what is sent.
        @Test(.disabled(if: Sanitizer.isOn, "released memory stays"))
        func leavesInTheSocketsWhatWaitsForItsTurn() async throws {
            try await AgentProcessFixture.with { f in
                let agent = try await f.agent()
                try await f.waitUntilOpen()
                let idle = try LongTransferTests.peak(agent.processID)
                let path = f.socketPath
                try await offPool { try Self.flood(path) }
                let peak = try LongTransferTests.peak(agent.processID)
                #expect(
                    peak - idle < Self.connections * Self.size / 8, "\(idle >> 20) MiB idle, \(peak >> 20) MiB peak")
            }
        }

        /// Sends requests on all connections at the same time, and reads the replies.
        private static func flood(_ path: String) throws {
            let request = Hello(appName: String(repeating: "x", count: 3000))
            let frame = try RequestFrame.encode(request, id: 1)
            let bytes = [UInt8]([[UInt8]](repeating: frame, count: size / frame.count).joined())
            var sockets: [(descriptor: Int32, sent: Int)] = []
            defer { for socket in sockets { close(socket.descriptor) } }
            while sockets.count < connections {
                if case .connected(let descriptor) = try UnixSocket.connect(to: path) {
                    sockets.append((descriptor, 0))
                }
            }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case let unsent = sockets.filter({ $0.sent < bytes.count }), !unsent.isEmpty {
                var events = unsent.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0) }
                poll(&events, nfds_t(events.count), -1)
                for index in sockets.indices {
                    let (descriptor, sent) = sockets[index]
                    while recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
                    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
                    let count = bytes.withUnsafeBytes {
                        send(descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent, flags)
                    }
                    if count > 0 { sockets[index].sent += count }
                }
            }
        }
    }
#endif
