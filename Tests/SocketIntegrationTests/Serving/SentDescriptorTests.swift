internal import AgentClient
internal import AgentSocket
internal import AgentTestSupport
internal import CAgentSystem
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

#if canImport(Glibc)
    internal import Glibc
#endif

#if os(Linux)
    /// Descriptors that confined peers send, on a kernel that does not refuse them: before Linux 6.16, or if a socket has been told too late.
    @Suite(.bounded) struct SentDescriptorTests {
        /// How a peer sends descriptors.
        enum Way: CaseIterable {
            case withARequest, behindARequest, behindAMalformedFrame, outOfBand, beforeItIsIdentified
        }

        /// Whoever reads the bytes, or closes the connection, waits for the descriptors' TCP connections: for longer than this test may take.
        @Test(arguments: Way.allCases)
        func closesNoDescriptorsOnItsEventLoop(_ way: Way) async throws {
            try await AgentFixture.with { f in
                try await f.published { client in
                    Listeners.acceptDescriptors()
                    let slow = try LingeringConnections(3)
                    try await offPool { try Self.send(slow, way, to: client.socketPath) }
                    _ = try await client.status()
                    _ = try await f.agent.status()
                }
            }
        }

        private static func send(_ slow: LingeringConnections, _ way: Way, to path: String) throws {
            let peer = try DescriptorPeer(path)
            let request = try RequestFrame.encode(GetStatus(), id: 1)
            if way != .beforeItIsIdentified {
                peer.send(request)
                peer.waitForBytes()
            }
            switch way {
            case .withARequest, .beforeItIsIdentified: peer.send(request, slow.takeDescriptors())
            case .behindARequest:
                peer.send(request)
                peer.send(request, slow.takeDescriptors())
            case .behindAMalformedFrame:
                peer.send([0, 0, 0, 0])
                peer.send(request, slow.takeDescriptors())
            case .outOfBand: peer.send([0, 0, 0], slow.takeDescriptors(), flags: Int32(MSG_OOB))
            }
            if way != .beforeItIsIdentified { peer.waitForEnd() }
        }

        @Test func answersRequestsInOneWriteOrByteByByte() async throws {
            try await AgentFixture.with { f in
                try await f.published { client in
                    Listeners.acceptDescriptors()
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

    /// The listeners of published sockets in this process.
    private enum Listeners {
        /// Has them behave as with an earlier kernel: descriptors can be sent to the connections that they accept from now on.
        static func acceptDescriptors() {
            // The name with which the agent binds such a socket; its own has another.
            for descriptor in Int32(3)..<1024
            where UnixSocket.localAddress(of: descriptor)?.path.contains("/.sso-agent.") == true {
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

        func send(_ bytes: [UInt8], _ descriptors: [Int32] = [], flags: Int32 = 0) {
            for (index, descriptor) in descriptors.enumerated() {
                // The last one comes with all of the bytes.
                let part = index == descriptors.count - 1 ? bytes[index...] : bytes[index...index]
                let sent = part.withUnsafeBytes {
                    agent_send_with_descriptor(socket, $0.baseAddress, $0.count, descriptor, flags)
                }
                #expect(sent == part.count, "errno \(errno)")
                close(descriptor)
            }
            guard descriptors.isEmpty else { return }
            _ = bytes.withUnsafeBytes { agent_send_with_descriptor(socket, $0.baseAddress, $0.count, -1, flags) }
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

    /// TCP connections whose close waits until the other end has read.
    private final class LingeringConnections {
        private var descriptors: [Int32] = []
        private var others: [Int32] = []

        init(_ count: Int) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            try #require(listen(listener, 8) == 0)
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            for _ in 0..<count {
                let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                let code = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        getsockname(listener, $0, &length) == 0 ? connect(one, $0, length) : -1
                    }
                }
                try #require(code == 0)
                descriptors.append(one)
                others.append(accept(listener, nil, nil))
                let block = [UInt8](repeating: 0, count: 1 << 16)
                while Glibc.send(one, block, block.count, Int32(MSG_DONTWAIT)) > 0 {}
                var time = linger(l_onoff: 1, l_linger: 3600)
                setsockopt(one, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
            }
        }

        /// The other ends are closed, which ends every wait.
        deinit { for one in descriptors + others { close(one) } }

        /// The descriptors, which the caller closes.
        func takeDescriptors() -> [Int32] {
            defer { descriptors = [] }
            return descriptors
        }
    }
#endif
