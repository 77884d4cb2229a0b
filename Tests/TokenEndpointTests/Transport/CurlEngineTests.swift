internal import CCurl
internal import NIOHTTP1
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import Curl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// HTTP with libcurl, and the thread of the engine.
@Suite(.bounded) struct CurlEngineTests {
    /// Runs `body` with an engine, and closes the engine.
    private func withEngine(
        idle: Duration = .seconds(600), connectionsPerHost: Int = 8, connections: Int = 0,
        emulatesOldLibrary: Bool = false,
        _ body: (CurlEngine) async throws -> Void
    ) async throws {
        let engine = CurlEngine(
            idle: idle, connectionsPerHost: connectionsPerHost, connections: connections,
            emulatesOldLibrary: emulatesOldLibrary)
        try await withCleanup {
            try await body(engine)
        } cleanUp: {
            await engine.close()
        }
    }

    private func failure(_ body: () async throws(CurlFailure) -> CurlResponse) async -> CurlFailure? {
        do throws(CurlFailure) {
            _ = try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", CurlFailure.notHTTP), ("", .connectionLost),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .connectionLost),
        ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 120_000))", .headTooLong),
        ("HTTP/1.1 200 OK\r\n\(String(repeating: "X: yyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", count: 3000))\r\n", .headTooLong),
    ])
    func refusesAResponseThatIsNotHTTP(answer: String, expected: CurlFailure) async throws {
        try await RawServer.with(answer) { server in
            try await withEngine { engine in
                let request = CurlRequest(url: "http://127.0.0.1:\(server.port)/")
                let failure = await failure { () async throws(CurlFailure) in try await engine.send(request) }
                #expect(failure == expected)
            }
        }
    }

    @Test func readsTheFieldsOfTheFinalResponse() async throws {
        let answer =
            "HTTP/1.1 100 Continue\r\nX-First: 1\r\n\r\nHTTP/1.1 201 Made\r\nX-A:  b c \t\r\nx-a: d\r\nEmpty:\r\n\r\nbody"
        try await RawServer.with(answer) { server in
            try await withEngine { engine in
                let response = try await engine.send(CurlRequest(url: "http://127.0.0.1:\(server.port)/"))
                #expect(response.status == 201)
                #expect(response.fields.map { "\($0.name)=\($0.value)" } == ["X-A=b c", "x-a=d", "Empty="])
                #expect(response.body == Secret("body"))
            }
        }
    }

    /// RFC 9110 section 5.1.
    @Test func dropsAFieldWhoseNameIsNotASCII() async throws {
        try await RawServer.with("HTTP/1.1 200 OK\r\nX-\u{C4}: 1\r\nX-A: 2\r\n\r\n") { server in
            try await withEngine { engine in
                let response = try await engine.send(CurlRequest(url: "http://127.0.0.1:\(server.port)/"))
                #expect(response.fields.map { "\($0.name)=\($0.value)" } == ["X-A=2"])
            }
        }
    }

    @Test(arguments: [false, true])
    func postsABodyOfAnyBytes(isSecure: Bool) async throws {
        try await ScriptedServer.with(isSecure: isSecure, { .answer(status: 200, body: $0.body) }) { server in
            let folder = try TemporaryFolder()
            let caFile = try TestCertificate(in: folder).certificateFile
            try await withEngine { engine in
                let url = "\(isSecure ? "https" : "http")://localhost:\(server.port)/a/../b?c=%2F"
                for body in [Secret(""), Secret("a\0b"), Secret(String(repeating: "ü", count: 400_000))] {
                    let response = try await engine.send(CurlRequest(url: url, body: body, caFile: caFile))
                    #expect(response.body == body)
                }
                #expect(Set(server.received.map(\.uri)) == ["/a/../b?c=%2F"])
                #expect(server.received.allSatisfy { $0.headers["Expect"].isEmpty })
            }
        }
    }

    /// OpenSSL's server closes each connection, and its page says what the handshake was.
    @Test func resumesTheTLSSessionOfAnEarlierConnection() async throws {
        let folder = try TemporaryFolder()
        let certificate = try TestCertificate(in: folder)
        let server = try TestProcess(
            "/usr/bin/env",
            [
                "openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", certificate.certificateFile, "-key",
                certificate.keyFile,
            ])
        let printed = try await server.waitForOutput("ACCEPT 127.0.0.1:")
        let line = try await printed.hasSuffix("\n") ? printed : printed + server.waitForOutput("\n")
        let port = try #require(line.firstMatch(of: #/ACCEPT 127.0.0.1:(\d+)/#)?.output.1)
        try await withEngine { engine in
            for expected in ["New, ", "Reused, ", "Reused, "] {
                let page = try await engine.send(
                    CurlRequest(url: "https://127.0.0.1:\(port)/", caFile: certificate.certificateFile))
                #expect(page.body.reveal().contains("\n\(expected)TLSv1"), "\(page.body.reveal())")
            }
        }
        try await server.killHard()
    }

    /// libcurl keeps what it has read of the file for a while.
    @Test func readsTheFileOfCertificateAuthoritiesAgainForACertificateThatIsNotTrusted() async throws {
        let (folder, otherFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let other = try TestCertificate(in: otherFolder, TestCertificate.expired).certificateFile
        try await ScriptedServer.with(isSecure: true, { _ in .answer(status: 200, body: "") }) { server in
            try await withEngine { engine in
                let url = "https://localhost:\(server.port)/"
                let request = CurlRequest(url: url, body: Secret("grant"), caFile: other)
                let failure = await failure { () async throws(CurlFailure) in try await engine.send(request) }
                #expect(failure == .tls(.untrusted) || failure == .tls(.outOfDate))
                #expect(try rename(TestCertificate(in: folder).certificateFile, other) == 0)
                let response = try await engine.send(request)
                #expect(response.status == 200)
                #expect(server.received.count == 1)
            }
        }
    }

    /// One that has been idle may be dead without a sign, and costs a grant if the server closes it just then.
    @Test(arguments: [false, true])
    func sendsEachRequestOnAConnectionOfItsOwn(emulatesOldLibrary: Bool) async throws {
        try await ScriptedServer.with({ _ in .answer(status: 200, body: "") }) { server in
            try await withEngine(emulatesOldLibrary: emulatesOldLibrary) { engine in
                let url = "http://127.0.0.1:\(server.port)/"
                let bodies = [nil, nil, Secret("grant"), nil, Secret("grant"), Secret("grant")]
                for body in bodies { _ = try await engine.send(CurlRequest(url: url, body: body)) }
                try #require(server.connections == bodies.count)
                // They are closed before the engine is.
                for _ in bodies { await server.waitForEndOfConnection() }
            }
        }
    }

    @Test func servesRequestsWhileItsThreadEnds() async throws {
        try await ScriptedServer.with({ _ in .answer(status: 200, body: "") }) { server in
            try await withEngine(idle: .zero) { engine in
                for _ in 0..<20 {
                    let response = try await engine.send(CurlRequest(url: "http://127.0.0.1:\(server.port)/"))
                    #expect(response.status == 200)
                }
            }
        }
    }

    /// By default, libcurl would send the second request on the connection of the first, and again on another one when the server closes
    /// that, since it cannot tell this from a connection that was closed before.
    @Test(arguments: [false, true], [false, true])
    func sendsNoBodyTwiceByItself(emulatesOldLibrary: Bool, isSecure: Bool) async throws {
        let folder = try TemporaryFolder()
        let caFile = try TestCertificate(in: folder).certificateFile
        let isFirst = Atomic(true)
        let script: ScriptedServer.Script = { _ in
            isFirst.exchange(false, ordering: .relaxed) ? .answer(status: 200, body: "") : .hangUp
        }
        try await ScriptedServer.with(isSecure: isSecure, script) { server in
            try await withEngine(emulatesOldLibrary: emulatesOldLibrary) { engine in
                let url = "\(isSecure ? "https" : "http")://localhost:\(server.port)/"
                _ = try await engine.send(CurlRequest(url: url, caFile: caFile))
                let failure = await failure { () async throws(CurlFailure) in
                    try await engine.send(CurlRequest(url: url, body: Secret("grant"), caFile: caFile))
                }
                #expect(failure == .connectionLost)
                #expect(server.received.map(\.method) == ["GET", "POST"])
            }
        }
    }

    /// As above; whoever waits for the response decides whether a GET is sent again.
    @Test(arguments: [false, true])
    func sendsNoGETTwiceByItself(emulatesOldLibrary: Bool) async throws {
        let isFirst = Atomic(true)
        let script: ScriptedServer.Script = { _ in
            isFirst.exchange(false, ordering: .relaxed) ? .answer(status: 200, body: "") : .hangUp
        }
        try await ScriptedServer.with(script) { server in
            try await withEngine(emulatesOldLibrary: emulatesOldLibrary) { engine in
                let request = CurlRequest(url: "http://127.0.0.1:\(server.port)/")
                _ = try await engine.send(request)
                let failure = await failure { () async throws(CurlFailure) in try await engine.send(request) }
                #expect(failure == .connectionLost)
                #expect(server.received.count == 2)
            }
        }
    }

    @Test(arguments: [false, true])
    func reportsWhetherSendingHasBegun(emulatesOldLibrary: Bool) async throws {
        let reserved = try ReservedPort()
        try await ScriptedServer.with({ _ in .hangUp }) { server in
            try await withEngine(emulatesOldLibrary: emulatesOldLibrary) { engine in
                for (port, begins) in [(reserved.port, 0), (server.port, 1)] {
                    let count = Mutex(0)
                    let request = CurlRequest(url: "http://127.0.0.1:\(port)/")
                    let failure = await failure { () async throws(CurlFailure) in
                        try await engine.send(request) { event in
                            switch event {
                            case .begins: count.withLock { $0 += 1 }
                            case .neverSent: count.withLock { $0 -= 1 }
                            case .incomplete: break
                            }
                        }
                    }
                    #expect(failure != nil)
                    #expect(count.withLock(\.self) == begins)
                }
            }
        }
    }

    @Test func sendsNothingOnceItHasEnded() {
        let request = CurlRequest(url: "http://127.0.0.1/")
        let count = Atomic(0)
        let transfer = CurlTransfer(request) { _ in count.add(1, ordering: .relaxed) }
        transfer.end(.failure(.cancelled))
        #expect(!transfer.beginSending())
        #expect(count.load(ordering: .relaxed) == 0)
    }

    /// The limit is that of a host, or that of all.
    @Test(arguments: [(2, 0), (8, 2)])
    func sendsMoreRequestsThanItHasConnections(connectionsPerHost: Int, connections: Int) async throws {
        try await ScriptedServer.with({ .answer(status: 200, body: $0.uri + $0.body) }) { server in
            try await withEngine(connectionsPerHost: connectionsPerHost, connections: connections) { engine in
                for body in [nil, Secret("grant")] {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<50 {
                            group.addTask {
                                let url = "http://127.0.0.1:\(server.port)/\(number)"
                                let response = try await engine.send(CurlRequest(url: url, body: body))
                                #expect(response.body == Secret("/\(number)\(body?.reveal() ?? "")"))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
        }
    }

    @Test func endsEveryRequestWhenItIsClosed() async throws {
        try await ScriptedServer.with({ _ in .silence }) { server in
            let engine = CurlEngine(idle: .seconds(600))
            let request = CurlRequest(url: "http://127.0.0.1:\(server.port)/")
            let waiting = (0..<10).map { _ in
                Task { await failure { () async throws(CurlFailure) in try await engine.send(request) } }
            }
            await server.waitForRequests(8)
            await engine.close()
            for task in waiting { #expect(await task.value == .cancelled) }
            #expect(await failure { () async throws(CurlFailure) in try await engine.send(request) } == .cancelled)
            await engine.close()
        }
    }

    /// Otherwise a host that never answers would use up the connections.
    @Test func closesTheConnectionOfACancelledRequest() async throws {
        try await ScriptedServer.with({ $0.uri == "/" ? .silence : .answer(status: 200, body: "") }) { server in
            try await withEngine { engine in
                let url = "http://127.0.0.1:\(server.port)/"
                let waiting = Task {
                    await failure { () async throws(CurlFailure) in try await engine.send(CurlRequest(url: url)) }
                }
                await server.waitForRequests(1)
                waiting.cancel()
                #expect(await waiting.value == .cancelled)
                // The thread has handled what came before this request, whose own connection it has closed, too.
                _ = try await engine.send(CurlRequest(url: url + "next"))
                #expect(Self.sockets(connectedTo: server.port) == 0)
            }
        }
    }

    /// The number of this process's sockets whose other end is at a port.
    private static func sockets(connectedTo port: Int) -> Int {
        (0..<min(getdtablesize(), 65_536)).count { descriptor in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            guard code == 0, Int32(address.sin_family) == AF_INET else { return false }
            return Int(UInt16(bigEndian: address.sin_port)) == port
        }
    }

    @Test(arguments: [(10, true), (9, false)])
    func readsABodyOfTheLengthOfItsLimit(limit: Int, isRead: Bool) async throws {
        try await ScriptedServer.with({ _ in .answer(status: 200, body: "0123456789") }) { server in
            try await withEngine { engine in
                let request = CurlRequest(url: "http://127.0.0.1:\(server.port)/", bodyLimit: limit)
                let failure = await failure { () async throws(CurlFailure) in try await engine.send(request) }
                #expect(failure == (isRead ? nil : .bodyTooLong))
            }
        }
    }

    /// `NetworkSettings` reads some of them; libcurl would read others, too.
    @Test func readsNoProxyInTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "all_proxy"] { setenv(name, "http://127.0.0.1:1", 1) }
            try await ScriptedServer.with({ _ in .answer(status: 200, body: "") }) { server in
                let engine = CurlEngine(idle: .seconds(600))
                let response = try? await engine.send(CurlRequest(url: "http://127.0.0.1:\(server.port)/"))
                await engine.close()
                #expect(response?.status == 200)
            }
        }
    }

    /// The response to a body may be the only one that there will be; a GET can be sent again.
    @Test(arguments: [false, true])
    func waitsOnlyForBodiesThatMayHaveBeenSent(emulatesOldLibrary: Bool) async throws {
        try await ScriptedServer.with({ _ in .silence }) { server in
            let url = "http://127.0.0.1:\(server.port)/"
            let engine = CurlEngine(idle: .seconds(600), connectionsPerHost: 3, emulatesOldLibrary: emulatesOldLibrary)
            let ended = Counter()
            func send(_ body: Secret?) -> Task<CurlFailure?, Never> {
                Task {
                    let outcome = await failure { () async throws(CurlFailure) in
                        try await engine.send(CurlRequest(url: url, body: body))
                    }
                    if body != nil { ended.add() }
                    return outcome
                }
            }
            let page = send(nil)
            await server.waitForRequests(1)
            let grants = [send(Secret("one")), send(Secret("two"))]
            await server.waitForRequests(3)
            engine.stopSending()
            #expect(await page.value == .cancelled)
            #expect(await send(nil).value == .cancelled)
            #expect(ended.count == 0)
            #expect(await send(Secret("three")).value == .cancelled)
            #expect(server.received.count == 3)
            await engine.close()
            for grant in grants { #expect(await grant.value == .cancelled) }
        }
    }

    @Test func refusesOtherProtocols() async throws {
        let folder = try TemporaryFolder()
        let file = try TestCertificate(in: folder).certificateFile
        try await withEngine { engine in
            for url in ["file://\(file)", "ftp://127.0.0.1/x", "no url"] {
                let failure = await failure { () async throws(CurlFailure) in
                    try await engine.send(CurlRequest(url: url))
                }
                #expect(failure != nil, "\(url)")
            }
        }
    }

    #if os(Linux)
        /// They would begin each request late, also after there are file descriptors again.
        @Test func makesNoTransfersThatCannotBeWoken() async {
            await #expect(processExitsWith: .success) {
                try #require(ccurl_load() == nil)
                let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
                var limit = rlimit()
                try #require(getrlimit(files, &limit) == 0)
                var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
                try #require(setrlimit(files, &none) == 0)
                let withoutFiles = CurlMulti(connectionsPerHost: 8, connections: 0)
                try #require(setrlimit(files, &limit) == 0)
                #expect(withoutFiles == nil)
                let withFiles = CurlMulti(connectionsPerHost: 8, connections: 0)
                #expect(withFiles != nil)
            }
        }
    #endif
}
