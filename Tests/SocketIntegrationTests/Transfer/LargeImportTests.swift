internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Large imports delay no other request.
@Suite(.bounded) struct LargeImportTests {
    /// The other request is answered before the report of the import.
    @Test func answersOtherRequestsWhileAFileIsRead() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let other = try RawPeer(f.socketPath)
            _ = try await other.ask(Hello(appName: "other"))
            let order = try await offPool {
                try peer.sendImport(of: Self.file(accounts: 2000), isDryRun: true)
                // The agent has received the last part when it answers the next request.
                try peer.write(Hello(appName: "importer"), id: 2)
                var order = [try peer.reply()?.id]
                try other.write(ListAccounts(clientID: nil), id: 3)
                order.append(try other.reply()?.id)
                // A report that had been sent by then would precede this reply.
                try peer.write(Hello(appName: "importer"), id: 4)
                order.append(try peer.reply()?.id)
                order.append(try peer.reply()?.id)
                return order
            }
            #expect(order == [2, 3, 4, 1])
        }
    }

    /// What was read of the file, and the cache that it is compared with, hold tokens that nothing may keep.
    @Test(arguments: [true, false]) func endsWhenTheStoreIsLocked(isDryRun: Bool) async throws {
        try await AgentFixture.with { f in
            _ = try await f.signIn("alice@contoso.com", f.parameters())
            let peer = try RawPeer(f.socketPath)
            let replies = try await offPool {
                try peer.sendImport(of: Self.file(accounts: 2000), isDryRun: isDryRun)
                try peer.write(Lock(), id: 2)
                return try [peer.reply(), peer.reply()].compactMap(\.self)
            }
            let report = try #require(replies.first { $0.id != 2 })
            let error = #expect(throws: TokenError.self) { try report.reply(to: ImportCache.self) }
            #expect(error?.code == .storeUnavailable)
            let status = try #require(replies.first { $0.id == 2 })
            #expect(try status.reply(to: Lock.self).isOpen == false)
            _ = try await f.agent.unlock(Unlock())
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count == 1)
        }
    }

    /// A hit is answered while the import is written; a request that has to write waits for it.
    @Test func answersOtherRequestsWhileAFileIsWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            disk.holdFlushes()
            async let report = f.agent.importCache(Self.file(accounts: 300), format: .adalJSON)
            try await disk.waitForHeldFlush()
            #expect(try await f.silent(f.parameters(), account).isFromCache)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count == 1)
            disk.releaseFlushes()
            #expect(try await report.accounts == 300)
            #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count > 1)
        }
    }

    /// A removal changes the cache immediately, and must not be undone by an import that was computed before.
    @Test func keepsARemovalThatComesWhileAFileIsWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            disk.holdFlushes()
            async let report = f.agent.importCache(Self.file(accounts: 300), format: .adalJSON)
            try await disk.waitForHeldFlush()
            let peer = try RawPeer(f.socketPath)
            let removal = RemoveAccount(clientID: try f.parameters().clientID, account: account, extent: .account)
            try peer.write(removal, id: 1)
            // The removal has been applied when the next request is answered.
            try peer.write(Hello(appName: "other"), id: 2)
            #expect(try await offPool { try peer.reply()?.id } == 2)
            disk.releaseFlushes()
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
    /// Sends a whole import as request 1, without reading the last part's reply.
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
                ImportCache(format: .adalJSON, isDryRun: isDryRun, importID: id, data: part, isLast: isLast))
            if !isLast { id = try reply()?.reply(to: ImportCache.self).importID }
        }
    }
}
