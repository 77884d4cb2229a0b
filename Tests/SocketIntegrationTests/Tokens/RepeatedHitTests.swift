internal import AccessPolicy
internal import AgentClient
internal import AgentSocket
internal import AgentTestSupport
internal import EntraEmulator
internal import Foundation
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// Repetitions of silent requests, which the agent answers from kept replies. A request that was never sent before is decided; so the
/// tests compare a repetition with an equal request that has an unknown field of its own.
@Suite(.bounded) struct RepeatedHitTests {
    /// The frames of a request that is repeated, and of one that is equal and new.
    fileprivate struct Pair {
        let request: AcquireTokenSilent

        /// The frame of a request, which is the same one each time.
        var repeated: [UInt8] {
            get throws { try RequestFrame.encode(request, id: 1) }
        }

        /// The frame of the same request, with a field that no agent knows.
        func new(_ number: Int) throws -> [UInt8] {
            let frame = try repeated
            // Length, ID, and the tag of the request; then its length and its fields.
            let prefix = FrameDecoder.headerLength + 3
            let lengthEnd = try #require(frame[prefix...].firstIndex { $0 < 0x80 }) + 1
            let body = frame[lengthEnd...] + Self.varint(100 << 3) + Self.varint(number)
            let message = frame[FrameDecoder.headerLength..<prefix] + Self.varint(body.count) + body
            return (0..<4).map { UInt8(truncatingIfNeeded: message.count >> (8 * (3 - $0))) } + message
        }

        private static func varint(_ number: Int) -> [UInt8] {
            number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F) | 0x80] + varint(number >> 7)
        }
    }

    /// What changes between two requests.
    private enum Change: CaseIterable {
        case signIn, signOut, signOutOfAllApps, renewal, removedCredential, import_, lock, clock, expiry, nothing
    }

    private static let users = ["alice@contoso.com", "bob@contoso.com"]
    private static let apps = ["app-1", "app-2"]
    /// Sign-ins are frequent, since without them there are soon no tokens.
    private static let changes = Change.allCases + Array(repeating: .signIn, count: 5)
    /// The expiration buffers of requests.
    private static let buffers: [Int64] = [0, 300, 3000]

    /// References that name no account by its identifier.
    private static let references = users.map { AccountReference(username: $0) } + [AccountReference()]
    /// The scopes of requests, as MSAL and as ADAL ask for them.
    private static let targets: [([String], OAuthVersion)] = [
        (["User.Read"], .v2), (["Mail.Read"], .v2), ([resource], .v1),
    ]
    private static let resource = "https://graph.microsoft.com/.default"

    /// Whatever happens between two requests, a repetition has the reply that the agent would decide on now.
    @Test func repliesAsANewDecisionWould() async throws {
        var seed = TestSeed()
        try await AgentFixture.with(usernames: Self.users) { f in
            let peer = try RawPeer(f.socketPath)
            var accounts: [String: AccountReference] = [:]
            for user in Self.users { accounts[user] = try await f.signIn(user, f.parameters()).account.reference }
            let export = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            let pairs = try Self.apps.flatMap { app in
                try Self.targets.flatMap { scopes, version in
                    try (Self.references + Self.users.compactMap { accounts[$0] }).flatMap { account in
                        try Self.buffers.map { buffer in
                            var parameters = try f.parameters(app, scopes: scopes)
                            parameters.version = version
                            return Pair(
                                request: AcquireTokenSilent(
                                    parameters: parameters, account: account, expirationBuffer: buffer))
                        }
                    }
                }
            }
            var (asked, hits, hitsByName, expiry) = (0, 0, 0, Int64?.none)
            for round in 0..<200 {
                let change = Self.changes.randomElement(using: &seed) ?? .nothing
                try await make(change, f, accounts, export, &seed)
                let buffer = Self.buffers.randomElement(using: &seed) ?? 0
                var times: [Int64?] = [nil]
                // The seconds in which requests with this buffer begin to need a renewal.
                if change == .expiry, let expiry { times = [-1, 0, 1].map { expiry - buffer + $0 } }
                for time in times {
                    if let time { f.clock.advance(by: time - f.clock.now) }
                    for pair in time == nil ? Array(pairs.shuffled(using: &seed).prefix(8)) : pairs.of(buffer) {
                        asked += 1
                        let number = asked
                        let replies = try await offPool {
                            try [pair.repeated, pair.new(number)].map { frame in
                                peer.write(frame)
                                return try #require(try peer.replyBytes())
                            }
                        }
                        // A result that says that the cache has changed is of a renewal that has failed. The second one did not change it.
                        guard let result = try? Self.result(replies[0]), result.isFromCache, !result.hasChangedCache
                        else { continue }
                        hits += 1
                        if pair.request.account.homeAccountID == nil { hitsByName += 1 }
                        expiry = result.expiresOn
                        let areEqual = replies[0] == replies[1]
                        #expect(areEqual, "round \(round), after \(change); \(seed)")
                    }
                }
            }
            #expect(hits > 40 && hitsByName > 20, "\(hits) hits, \(hitsByName) by name; \(seed)")
        }
    }

    private static func result(_ reply: [UInt8]) throws -> TokenResult {
        try ReplyFrame(decoding: reply).reply(to: AcquireTokenSilent.self)
    }

    private func make(
        _ change: Change, _ f: AgentFixture, _ accounts: [String: AccountReference], _ export: Secret,
        _ seed: inout TestSeed
    ) async throws {
        let user = Self.users.randomElement(using: &seed) ?? ""
        let (scopes, version) = Self.targets.randomElement(using: &seed) ?? ([], .v2)
        var parameters = try f.parameters(Self.apps.randomElement(using: &seed) ?? "", scopes: scopes)
        parameters.version = version
        let account = accounts[user] ?? AccountReference()
        switch change {
        case .signIn: try await f.signIn(user, parameters)
        case .signOut, .signOutOfAllApps:
            _ = try await f.agent.removeAccount(
                RemoveAccount(
                    clientID: parameters.clientID, account: account, extent: change == .signOut ? .app : .account))
        // Fails without a refresh token.
        case .renewal: _ = try? await f.silent(parameters, account, force: true)
        case .removedCredential:
            let credentials = try await f.agent.listCredentials(ListCredentials())
            guard let credential = credentials.randomElement(using: &seed) else { return }
            _ = try await f.agent.removeCredential(RemoveCredential(id: credential.id))
        case .import_: _ = try await f.agent.importCache(export, format: .msalJSON)
        case .lock:
            _ = try await f.agent.lock()
            _ = try await f.agent.unlock(Unlock())
        case .clock: f.clock.advance(by: Int64.random(in: -2000..<2000, using: &seed))
        case .expiry, .nothing: break
        }
    }

    /// An app of an earlier version does not ask for a single ID token, and gets it wherever it belongs.
    @Test func sendsAnIDTokenOnceToAppsThatAcceptThat() async throws {
        try await AgentFixture.with { f in
            let signedIn = try await f.signIn("alice@contoso.com", f.parameters())
            let idToken = Array(try #require(signedIn.idToken).utf8)
            let peer = try RawPeer(f.socketPath)
            var request = AcquireTokenSilent(parameters: try f.parameters(), account: signedIn.account.reference)
            var results: [TokenResult] = []
            // The second time with a kept reply.
            for (accepts, times) in [(false, 3), (true, 1), (false, 3), (true, 1)] {
                request.acceptsSingleIDToken = accepts
                let frame = try RequestFrame.encode(request, id: 1)
                let reply = try await offPool {
                    peer.write(frame)
                    return try #require(try peer.replyBytes())
                }
                #expect(reply.ranges(of: idToken).count == times)
                results.append(try Self.result(reply))
            }
            #expect(results.allSatisfy { $0 == results[0] && $0.tenantProfile?.idToken == signedIn.idToken })
        }
    }

    @Test func repeatsTheIDsOfEachRequest() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let peer = try RawPeer(f.socketPath)
            for id in [1, 2, 300, UInt64.max >> 1, UInt64.max] {
                let request = AcquireTokenSilent(parameters: try f.parameters(), account: account)
                let reply = try await offPool {
                    try peer.write(request, id: id)
                    return try #require(try peer.reply())
                }
                #expect(reply.id == id)
                let result = try reply.reply(to: AcquireTokenSilent.self)
                #expect(result.isFromCache && result.correlationID == request.parameters.correlationID)
            }
        }
    }

    /// On some systems the buffers of sockets are smaller than a long reply. A part of it then waits, and others behind it.
    @Test func answersEveryRepetitionWhoseReplyIsLongerThanTheBufferOfTheSocket() async throws {
        var settings = EmulatorSettings()
        settings.tokenReply = ["access_token": .string(String(repeating: "a", count: 48 << 10))]
        try await AgentFixture.with(settings: settings, peerLimits: .withLongTurns) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let request = AcquireTokenSilent(parameters: try f.parameters(), account: account)
            let peer = try RawPeer(f.socketPath)
            // The second reply is a kept one.
            for _ in 0..<2 { #expect(try await peer.ask(request)?.isFromCache == true) }
            #expect(Self.shrinkBuffers(ofConnectionsAt: f.socketPath) > 0)
            let frames = try (1...8).flatMap { try RequestFrame.encode(request, id: $0) }
            try await offPool { _ = peer.write(frames) }
            #expect(Set(try await offPool { try (1...8).map { _ in try peer.reply()?.id } }) == Set((1...8).map { $0 }))
        }
    }

    /// Lets the agent's end of each connection send eight kilobytes at a time; returns the number of connections.
    private static func shrinkBuffers(ofConnectionsAt socketPath: String) -> Int {
        (0..<getdtablesize()).count { descriptor in
            // The socket had a longer name before it listened.
            guard let address = UnixSocket.localAddress(of: descriptor), address.path.hasPrefix(socketPath),
                address.isListening != true
            else { return false }
            var size: Int32 = 8 << 10
            return setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0
        }
    }

    @Test func answersNoRepetitionWhileTheStoreIsLocked() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let frame = try Pair(
                request: AcquireTokenSilent(parameters: try f.parameters(), account: account)
            ).repeated
            let peer = try RawPeer(f.socketPath)
            func reply() async throws -> ReplyFrame {
                try await offPool {
                    peer.write(frame)
                    return try #require(try peer.reply())
                }
            }
            for _ in 0..<2 { #expect(try await reply().failure == nil) }
            _ = try await f.agent.lock()
            #expect(try await reply().failure?.code == .storeUnavailable)
            _ = try await f.agent.unlock(Unlock())
            #expect(try await reply().failure == nil)
        }
    }

    /// The other process sends the bytes that this process has a kept reply for.
    @Test func hasThePolicyDecideAboutEachPeer() async throws {
        let python = try await Self.python("import os; print(os.readlink('/proc/self/exe'))", [])
        let rules = [PolicyRule(executable: python, requests: .all, effect: .deny), .everything]
        try await AgentFixture.with(rules: rules) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            let request = AcquireTokenSilent(parameters: try f.parameters(), account: account)
            let peer = try RawPeer(f.socketPath)
            for _ in 0..<3 { #expect(try await peer.ask(request)?.isFromCache == true) }
            let frame = try RequestFrame.encode(request, id: 1).map { String(Int($0) + 256, radix: 16).dropFirst() }
            let reply = try await Self.python(Self.ask, [f.socketPath, frame.joined()])
            let bytes = try reply.split(separator: ",").map { try #require(UInt8($0)) }
            let failure = try ReplyFrame(decoding: bytes.dropFirst(FrameDecoder.headerLength)).failure
            #expect(failure?.code == .requestDenied)
            #expect(try await peer.ask(request)?.isFromCache == true)
        }
    }

    /// Runs a script in another process, and returns what it prints.
    private static func python(_ script: String, _ arguments: [String]) async throws -> String {
        let ended = try await TestProcess("/usr/bin/env", ["python3", "-c", script] + arguments).finish()
        #expect(ended.status == 0, "\(ended.errors)")
        return String(ended.output.prefix { $0 != "\n" })
    }

    private static let ask = """
        from socket import AF_UNIX, socket
        from sys import argv
        connection = socket(AF_UNIX)
        connection.connect(argv[1])
        connection.sendall(bytes.fromhex(argv[2]))
        print(",".join(str(byte) for byte in connection.recv(65536)))
        """
}

extension [RepeatedHitTests.Pair] {
    /// The requests with an expiration buffer.
    fileprivate func of(_ buffer: Int64) -> [RepeatedHitTests.Pair] { filter { $0.request.expirationBuffer == buffer } }
}
