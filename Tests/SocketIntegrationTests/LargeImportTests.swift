internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// A large import is nobody else's business.
@Suite(.bounded) struct LargeImportTests {
    /// The import is read and worked out while the other app is answered: its answer is there before the report.
    @Test func answersOthersWhileAFileIsRead() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let other = try RawPeer(f.socketPath)
            _ = try await other.ask(.hello(Hello(appName: "other")))
            let order = try await offPool {
                try peer.sendImport(of: Self.file(accounts: 2000), isDryRun: true)
                // The agent has taken the last part by the time it answers what came behind it.
                try peer.write(Request(id: 2, .hello(Hello(appName: "importer"))))
                var order = [try peer.reply()?.id]
                try other.write(Request(id: 3, .listAccounts(ListAccounts(clientID: nil))))
                order.append(try other.reply()?.id)
                // Whatever of the report had come by then would be in the way of this one's answer.
                try peer.write(Request(id: 4, .hello(Hello(appName: "importer"))))
                order.append(try peer.reply()?.id)
                order.append(try peer.reply()?.id)
                return order
            }
            #expect(order == [2, 3, 4, 1])
        }
    }

    /// And while it is on its way to the disk; what has to be written itself comes after it.
    @Test func answersOthersWhileAFileIsWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            disk.holdFlushes()
            async let report = f.agent.importCache(Self.file(accounts: 300), format: .adalJSON)
            try await disk.waitForHeldFlush()
            #expect(try await f.silent(f.parameters(), account).isFromCache)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count == 1)
            disk.letGo()
            #expect(try await report.accounts == 300)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count > 1)
        }
    }

    /// A removal changes the cache in memory at once: it must not be undone by an import that was worked out before.
    @Test func keepsWhatIsRemovedWhileAFileIsWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            disk.holdFlushes()
            async let report = f.agent.importCache(Self.file(accounts: 300), format: .adalJSON)
            try await disk.waitForHeldFlush()
            let peer = try RawPeer(f.socketPath)
            let removal = RemoveAccount(clientID: try f.parameters().clientID, account: account, extent: .account)
            try peer.write(Request(id: 1, .removeAccount(removal)))
            // It is true in memory by the time that what came behind it is answered.
            try peer.write(Request(id: 2, .hello(Hello(appName: "other"))))
            #expect(try await offPool { try peer.reply()?.id } == 2)
            disk.letGo()
            #expect(try await report.accounts == 300)
            #expect(try await offPool { try peer.reply()?.id } == 1)
            let error = await #expect(throws: TokenError.self) { try await f.silent(f.parameters(), account) }
            #expect(error?.code == .interactionRequired)
        }
    }

    /// An ADAL file of accounts with a refresh token each.
    private static func file(accounts: Int) -> Secret {
        let entries = (0..<accounts).map { index in
            #"{"_authority":"https://login.windows.net/common","_clientId":"app","isMRRT":true,"#
                + #""userId":"user-\#(index)@contoso.com","refreshToken":"r-\#(index)"}"#
        }
        return Secret("[\(entries.joined(separator: ","))]")
    }
}

extension RawPeer {
    /// Sends a whole import as request 1; the last part's reply is yet to come.
    fileprivate func sendImport(of file: Secret, isDryRun: Bool) throws {
        var id: String?
        let parts = file.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: 48 * 1024).map {
                Secret(bytes: bytes[$0..<min($0 + 48 * 1024, bytes.count)])
            }
        }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            try write(
                Request(
                    id: 1,
                    .importCache(
                        ImportCache(
                            format: .adalJSON, isDryRun: isDryRun, importID: id, data: part, isLast: isLast))))
            if !isLast, case .importCache(let reply) = try reply()?.body { id = reply.importID }
        }
    }
}
