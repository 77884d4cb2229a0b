internal import AgentClient
internal import AgentSocket
internal import AgentTestSupport
internal import CAgentSystem
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#endif

#if os(Linux)
    /// Descriptors that peers send. One test after the other: some have every published socket of this process behave as on a kernel that
    /// does not refuse them, as before Linux 6.16, or if a socket has been told too late.
    @Suite(.bounded, .serialized) struct SentDescriptorTests {
        /// Whether the kernel lets a socket refuse descriptors.
        private static var canRefuseDescriptors: Bool {
            guard let probe = try? UnixSocket.make() else { return false }
            defer { close(probe) }
            return agent_refuse_descriptors(probe) == 0
        }

        /// The agent would have to close them, which takes as long as the sender wants: a TCP connection may linger for a day.
        @Test(.enabled(if: canRefuseDescriptors, "Linux refuses descriptors since 6.16"))
        func receivesNoDescriptorAtAnySocket() async throws {
            try await AgentFixture.with { f in
                let published = f.folder.file("published.sock")
                let app = try #require(ClientID("app-1"))
                try await f.agent.publishSocket(PublishSocket(path: published, clientIDs: [app]))
                for path in [f.socketPath, published] {
                    guard case .connected(let peer) = try UnixSocket.connect(to: path) else {
                        Issue.record("nobody listens at \(path)")
                        continue
                    }
                    defer { close(peer) }
                    let frame = try RequestFrame.encode(GetStatus(), id: 1)
                    let sent = frame.withUnsafeBytes {
                        agent_send_with_descriptor(peer, $0.baseAddress, $0.count, peer, 0)
                    }
                    #expect(sent == -1 && errno == EPERM, "\(path)")
                }
                _ = try await f.agent.status()
            }
        }

        /// The app would have to close it, and the thread that reads ends the calls whose deadline has passed.
        @Test(.enabled(if: canRefuseDescriptors, "Linux refuses descriptors since 6.16"), arguments: [true, false])
        func receivesADescriptorOfTheAgentOnlyIfItKeepsResults(keepsResults: Bool) async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("agent.sock")
            let listener = try UnixSocket.make()
            _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) & ~O_NONBLOCK)
            let isBound = try UnixSocket.withAddress(of: path) { bind(listener, $0, $1) == 0 }
            try #require(isBound && listen(listener, 8) == 0)
            let client = AgentClient(socketPath: path, keepsResults: keepsResults)
            let call = Task { try? await client.status() }
            let (sent, code) = try await offPool {
                let peer = accept(listener, nil, nil)
                defer { close(peer) }
                var byte: UInt8 = 0
                let sent = agent_send_with_descriptor(peer, &byte, 1, peer, 0)
                return (sent, errno)
            }
            #expect(sent == (keepsResults ? 1 : -1))
            #expect(keepsResults || code == EPERM)
            close(listener)
            _ = await call.value
        }

        /// How a peer sends descriptors.
        enum Way: CaseIterable {
            case withARequest, behindARequest, behindAMalformedFrame, outOfBand, beforeItIsIdentified
        }

        /// Whoever reads the bytes, or closes the connection, waits for the descriptor's TCP connection: for longer than this test may take.
        @Test(arguments: Way.allCases)
        func closesNoDescriptorsOnItsEventLoop(_ way: Way) async throws {
            try await AgentFixture.with { f in
                try await f.published { client in
                    try Listeners.acceptDescriptors()
                    let slow = try await Self.sendLingeringConnection(way, to: client.socketPath)
                    _ = try await client.status()
                    _ = try await f.agent.status()
                    withExtendedLifetime(slow) {}
                }
            }
        }

        /// A stop of the agent waits for that event loop.
        @Test func closesNoDescriptorsOnTheEventLoopOfTheMetrics() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("metrics.sock")
            let request = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            try await AgentFixture.with(adjust: { $0.metricsSocketPath = path }) { _ in
                try Listeners.acceptDescriptors(boundWith: path)
                try await offPool {
                    let slow = try LingeringConnection()
                    let peer = try DescriptorPeer(path)
                    #expect(peer.send(request, slow))
                    peer.waitForEnd()
                    let other = try RawPeer(path)
                    other.write(request)
                    other.waitUntilClosed()
                    withExtendedLifetime(slow) {}
                }
            }
        }

        private static func sendLingeringConnection(_ way: Way, to path: String) async throws -> LingeringConnection {
            while true {
                let slow = try LingeringConnection()
                // Unless the agent has closed its end before.
                if try await offPool({ try isSent(slow, way, to: path) }) { return slow }
            }
        }

        private static func isSent(_ slow: LingeringConnection, _ way: Way, to path: String) throws -> Bool {
            let peer = try DescriptorPeer(path)
            let request = try RequestFrame.encode(GetStatus(), id: 1)
            if way != .beforeItIsIdentified {
                peer.send(request)
                peer.waitForBytes()
            }
            let isSent: Bool
            switch way {
            case .withARequest, .beforeItIsIdentified: isSent = peer.send(request, slow)
            case .behindARequest:
                peer.send(request)
                isSent = peer.send(request, slow)
            case .behindAMalformedFrame:
                peer.send([0, 0, 0, 0])
                isSent = peer.send(request, slow)
            case .outOfBand: isSent = peer.send([0, 0, 0], slow, flags: Int32(MSG_OOB))
            }
            if way != .beforeItIsIdentified { peer.waitForEnd() }
            return isSent
        }

        @Test func answersRequestsInOneWriteOrByteByByte() async throws {
            try await AgentFixture.with { f in
                try await f.published { client in
                    try Listeners.acceptDescriptors()
                    try await offPool {
                        let frames = try (1...200).map { try RequestFrame.encode(GetStatus(), id: $0) }
                        let together = try RawPeer(client.socketPath)
                        together.write(frames.flatMap(\.self))
                        #expect(Set(try (1...200).map { _ in try together.reply()?.id }) == Set((1...200).map { $0 }))
                        let slowly = try RawPeer(client.socketPath)
                        for byte in frames[0] + frames[1] { slowly.write([byte]) }
                        slowly.finishWriting()
                        #expect(Set(try (1...2).map { _ in try slowly.reply()?.id }) == [1, 2])
                        slowly.waitUntilClosed()
                    }
                }
            }
        }
    }

    /// The listeners in this process.
    private enum Listeners {
        /// Has them behave as with an earlier kernel: descriptors can be sent to the connections that they accept from now on.
        ///
        /// - Parameter part: a part of the names with which they were bound; by default of those of published sockets.
        static func acceptDescriptors(boundWith part: String = "/.sso-agent.") throws {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
            let sockets = open.filter { UnixSocket.localAddress(of: $0)?.path.contains(part) == true }
            for descriptor in sockets {
                var accepted: Int32 = 1
                // SO_PASSRIGHTS.
                setsockopt(descriptor, SOL_SOCKET, 83, &accepted, socklen_t(MemoryLayout<Int32>.size))
            }
        }
    }

    /// A Unix socket that sends bytes with descriptors.
    private final class DescriptorPeer {
        private let socket: Int32

        init(_ path: String) throws {
            guard case .connected(let socket) = try UnixSocket.connect(to: path) else {
                throw TokenError(.agentUnavailable, "nobody listens")
            }
            self.socket = socket
        }

        deinit { close(socket) }

        func send(_ bytes: [UInt8]) {
            _ = bytes.withUnsafeBytes { agent_send_with_descriptor(socket, $0.baseAddress, $0.count, -1, 0) }
        }

        /// Sends bytes with the only descriptor of a connection.
        ///
        /// - Returns: false if the agent has closed its end.
        func send(_ bytes: [UInt8], _ connection: LingeringConnection, flags: Int32 = 0) -> Bool {
            let sent = bytes.withUnsafeBytes {
                agent_send_with_descriptor(socket, $0.baseAddress, $0.count, connection.descriptor, flags)
            }
            #expect(sent == bytes.count || errno == EPIPE || errno == ECONNRESET, "errno \(errno)")
            // The agent may have closed its own already.
            agent_close_impatiently(connection.descriptor)
            return sent == bytes.count
        }

        func waitForBytes() {
            var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            while poll(&event, 1, -1) != 1 {}
        }

        func waitForEnd() {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(socket, &bytes, bytes.count, 0)
                if count > 0 || count < 0 && errno == EINTR { continue }
                guard count < 0, errno == EAGAIN else { return }
                waitForBytes()
            }
        }
    }

    /// A TCP connection whose close waits until the other end has read.
    private final class LingeringConnection: Sendable {
        let descriptor: Int32
        private let other: Int32

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            try #require(listen(listener, 1) == 0)
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    getsockname(listener, $0, &length) == 0 ? connect(one, $0, length) : -1
                }
            }
            try #require(code == 0)
            descriptor = one
            other = accept(listener, nil, nil)
            let block = [UInt8](repeating: 0, count: 1 << 16)
            while Glibc.send(one, block, block.count, Int32(MSG_DONTWAIT)) > 0 {}
            var time = linger(l_onoff: 1, l_linger: 3600)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
        }

        /// The other end is closed, which ends every wait.
        deinit { close(other) }
    }
#endif
