internal import AgentClient
internal import AgentTestSupport
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Large imports delay no other request.
@Suite(.bounded) struct LargeImportTests {
    /// The accounts of the files of one test, each of which takes longer than the one before. A file that has been dealt with before the
    /// next request is handled shows nothing: on a busy machine the test, or the agent's event loop, may not run for that long.
    private static let sizes = [2000, 4000, 8000, 16_000, 32_000]

    /// The other request is answered before the report of the import.
    @Test func answersOtherRequestsWhileAFileIsRead() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let other = try RawPeer(f.socketPath)
            _ = try await other.ask(Hello(appName: "other"))
            let orders = try await offPool {
                var orders: [[UInt64?]] = []
                for accounts in Self.sizes where orders.last != [2, 3, 4, 1] {
                    orders.append(try Self.order(of: accounts, peer, other))
                }
                return orders
            }
            #expect(orders.last == [2, 3, 4, 1], "\(orders)")
        }
    }

    /// The IDs of the replies while a file of some accounts is read.
    private static func order(of accounts: Int, _ peer: RawPeer, _ other: RawPeer) throws -> [UInt64?] {
        // The agent has received the last part when it answers the next request.
        try peer.sendImport(
            of: ADALFile.accounts(accounts), isDryRun: true,
            then: RequestFrame.encode(Hello(appName: "importer"), id: 2))
        var order = [try peer.reply()?.id]
        try other.write(ListAccounts(clientID: nil), id: 3)
        order.append(try other.reply()?.id)
        // A report that had been sent by then would precede this reply.
        try peer.write(Hello(appName: "importer"), id: 4)
        order.append(try peer.reply()?.id)
        order.append(try peer.reply()?.id)
        return order
    }

    /// What was read of the file, and the cache that it is compared with, hold tokens that nothing may keep.
    @Test(arguments: [true, false]) func endsWhenTheStoreIsLocked(isDryRun: Bool) async throws {
        var hasEnded = false
        for accounts in Self.sizes where !hasEnded {
            try await AgentFixture.with { f in
                hasEnded = try await Self.isEnded(accounts, isDryRun: isDryRun, f)
            }
        }
        #expect(hasEnded)
    }

    /// Whether the store is locked before a file of some accounts has been imported; the import has to end then.
    private static func isEnded(_ accounts: Int, isDryRun: Bool, _ f: AgentFixture) async throws -> Bool {
        _ = try await f.signIn("alice@contoso.com", f.parameters())
        let peer = try RawPeer(f.socketPath)
        let replies = try await offPool {
            try peer.sendImport(
                of: ADALFile.accounts(accounts), isDryRun: isDryRun, then: RequestFrame.encode(Lock(), id: 2))
            return try [peer.reply(), peer.reply()].compactMap(\.self)
        }
        let status = try #require(replies.first { $0.id == 2 })
        #expect(try status.reply(to: Lock.self).isOpen == false)
        let report = try #require(replies.first { $0.id != 2 })
        guard let failure = try report.failure else { return false }
        #expect(failure.code == .storeUnavailable)
        _ = try await f.agent.unlock(Unlock())
        #expect(try await f.agent.listAccounts(ListAccounts(clientID: nil, onlySignedIn: false)).count == 1)
        return true
    }

    /// A hit is answered while the import is written; a request that has to write waits for it.
    @Test func answersOtherRequestsWhileAFileIsWritten() async throws {
        let disk = try FaultyDisk()
        try await AgentFixture.with(disk: disk) { f in
            let account = try await f.signIn("alice@contoso.com", f.parameters()).account.reference
            disk.holdFlushes()
            async let report = f.agent.importCache(ADALFile.accounts(300), format: .adalJSON)
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
            async let report = f.agent.importCache(ADALFile.accounts(300), format: .adalJSON)
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
}

extension RawPeer {
    /// Sends a whole import as request 1, without reading the last part's reply.
    ///
    /// - Parameter next: the frame of another request, which arrives with the last part.
    fileprivate func sendImport(of file: Secret, isDryRun: Bool, then next: [UInt8]) throws {
        var id: String?
        let parts = file.withBytes { bytes in
            stride(from: 0, to: bytes.count, by: 48 * 1024).map {
                Secret(bytes: bytes[$0..<min($0 + 48 * 1024, bytes.count)])
            }
        }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let frame = try RequestFrame.encode(
                ImportCache(format: .adalJSON, isDryRun: isDryRun, importID: id, data: part, isLast: isLast), id: 1)
            write(isLast ? frame + next : frame)
            if !isLast { id = try reply()?.reply(to: ImportCache.self).importID }
        }
    }
}
