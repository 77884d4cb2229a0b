internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenAgent
internal import TokenModel
internal import TokenWire

/// The limits of imports and exports in progress, and their sessions.
@Suite(.bounded) struct TransferLimitTests {
    @Test func discardsATransferThatIsNotContinuedForAMinute() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            let export = try await f.beginExport(peer)
            try await f.timers.advance(by: 59)
            try await peer.importID(adding: "\n", to: id)
            let next = try #require(try await peer.exported(export).next)

            // Each part extends the time by a minute.
            try await f.timers.advance(by: 59)
            #expect(try await peer.importID(adding: "\n", to: id) == id)
            let last = try #require(try await peer.exported(next).next)
            try await f.timers.advance(by: 60)
            #expect(try await peer.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: last)) == .sessionCanceled)
        }
    }

    @Test(arguments: [true, false]) func importsNothingAfterItsTime(forReading isReading: Bool) async throws {
        let exported = Mutex<Secret?>(nil)
        try await AgentFixture.with { f in
            try await f.signIn("alice@contoso.com", f.parameters())
            let cache = try await f.agent.exportCache(.msalJSON, includesSecrets: true)
            exported.withLock { $0 = cache }
        }
        let cache = try #require(exported.withLock { $0 })
        let adjust = { (options: inout AgentOptions) in
            if isReading { options.importReadingTime = .zero } else { options.importSavingTime = .zero }
        }
        try await AgentFixture.with(adjust: adjust) { f in
            let error = await #expect(throws: TokenError.self) {
                try await f.agent.importCache(cache, format: .msalJSON)
            }
            #expect(error?.code == .timedOut)
            #expect(try await f.agent.status().accounts == 0)
            // Nothing waits for the import any more.
            try await f.signIn("bob@contoso.com", f.parameters())
            #expect(try await f.agent.status().accounts == 1)
        }
    }

    /// All transfers together have a limit, too: see `CacheTransfersTests`.
    @Test func limitsTheTransfersOfAProcessToFour() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            for _ in 0..<4 { try await peer.importID(adding: "[") }
            let other = try RawPeer(f.socketPath)
            #expect(try await other.refusal(of: .part("[")) == .interactionInProgress)
            #expect(try await other.refusal(of: .first) == .interactionInProgress)
            try await f.timers.advance(by: 60)
            try await other.importID(adding: "[")
        }
    }

    @Test func limitsTheSizeOfAllImports() async throws {
        // A small limit, since it takes long to fill the usual 256 MiB.
        let room = 4 << 20
        try await AgentFixture.with(importLimit: room) { f in
            let peer = try RawPeer(f.socketPath)
            let first = try await peer.importID(adding: "[")
            let second = try await peer.importID(adding: "[")
            // Two imports share the limit.
            try await peer.fill(first, with: room / 2 - 1)
            try await peer.fill(second, with: room / 2 - 1)
            #expect(try await peer.refusal(of: .part(" ", of: second)) == .frameTooLarge)
            // The import that was too large is discarded.
            #expect(try await peer.refusal(of: .part(" ", of: second)) == .sessionCanceled)
            let third = try await peer.importID(adding: "[")
            try await peer.fill(third, with: room / 2 - 1)
            try await f.timers.advance(by: 60)
            try await peer.fill(try await peer.importID(adding: "["), with: 60 * 1024)
        }
    }

    /// Small parts need little more memory than their bytes.
    @Test func acceptsManyEmptyAndTinyParts() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "")
            for part in ["[", "", " ", "", "{", "}", ""] + Array(repeating: " ", count: 2000) {
                try await peer.importID(adding: part, to: id)
            }
            let reply = try #require(try await peer.ask(ImportCache.part("]", of: id, isLast: true)))
            #expect(reply.report?.skippedCount == 1)
        }
    }

    @Test func separatesTwoInterleavedImports() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let first = try await peer.importID(adding: "[{}")
            let second = try await peer.importID(adding: "[{},{}")
            try await peer.importID(adding: ",{}", to: first)
            try await peer.importID(adding: ",{}", to: second)
            for (id, count) in [(first, 2), (second, 3)] {
                let reply = try #require(try await peer.ask(ImportCache.part("]", of: id, isLast: true)))
                #expect(reply.report?.skippedCount == Int64(count))
                // The import is complete, and cannot be continued.
                #expect(try await peer.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            }
        }
    }

    @Test func refusesToContinueAnUnknownTransfer() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            #expect(try await peer.refusal(of: .part("{", of: "x", isLast: true)) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: "x")) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: id)) == .sessionCanceled)
        }
    }

    @Test func refusesToContinueATransferOfAnotherConnection() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let other = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            let export = try await f.beginExport(peer)
            #expect(try await other.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            #expect(try await other.refusal(of: .more(of: export)) == .sessionCanceled)
            // The attempt has no effect.
            #expect(try await peer.importID(adding: " ", to: id) == id)
            #expect(try await !peer.exported(export).data.isEmpty)
        }
    }

    @Test func discardsTheTransfersOfAClosedConnection() async throws {
        try await AgentFixture.with { f in
            let other = try RawPeer(f.socketPath)
            do {
                let peer = try RawPeer(f.socketPath)
                for _ in 0..<3 { try await peer.importID(adding: "[") }
                _ = try await f.beginExport(peer)
                #expect(try await other.refusal(of: .part("[")) == .interactionInProgress)
                peer.finishWriting()
                try await offPool { peer.waitUntilClosed() }
            }
            for _ in 0..<4 { try await other.importID(adding: "[") }
        }
    }
}

extension ImportCache {
    fileprivate static func part(_ text: String, of id: String? = nil, isLast: Bool = false) -> ImportCache {
        ImportCache(format: .adalJSON, importID: id, data: Secret(text), isLast: isLast)
    }
}

extension ExportCache {
    fileprivate static let first = ExportCache(format: .msalJSON, includesSecrets: true)

    fileprivate static func more(of id: String) -> ExportCache {
        ExportCache(format: .msalJSON, includesSecrets: true, exportID: id)
    }
}

extension RawPeer {
    /// The code with which the agent refuses a part of an import; nil if it accepts it.
    fileprivate func refusal(of part: ImportCache) async throws -> TokenError.Code? { try await code(of: part) }

    /// The code with which the agent refuses to continue an export; nil if it does not.
    fileprivate func refusal(of part: ExportCache) async throws -> TokenError.Code? { try await code(of: part) }

    private func code(of request: some WireRequest) async throws -> TokenError.Code? {
        do {
            _ = try await ask(request)
            return nil
        } catch let error as TokenError {
            return error.code
        }
    }

    /// Sends a part that is not the last one.
    @discardableResult
    fileprivate func importID(adding text: String, to id: String? = nil) async throws -> String {
        try #require(try await ask(ImportCache.part(text, of: id))).importID
    }

    fileprivate func exported(_ id: String) async throws -> ExportCache.Reply {
        try #require(try await ask(ExportCache.more(of: id)))
    }

    /// Sends this number of bytes, in parts of which none is the last one.
    fileprivate func fill(_ id: String, with count: Int) async throws {
        let most = 60 * 1024
        try await offPool {
            for start in stride(from: 0, to: count, by: most) {
                let text = String(repeating: " ", count: min(most, count - start))
                try self.write(ImportCache.part(text, of: id))
                _ = try self.reply()?.reply(to: ImportCache.self)
            }
        }
    }
}

extension AgentFixture {
    /// Begins an export of several parts, and returns the ID with which to continue it.
    fileprivate func beginExport(_ peer: RawPeer) async throws -> String {
        let secret = String(repeating: "r", count: 1000)
        let entries = (0..<1200).map { index in
            #"{"_authority":"\#(emulator.url)/common","_clientId":"app","isMRRT":true,"#
                + #""userId":"user-\#(index)@contoso.com","refreshToken":"\#(secret)"}"#
        }
        _ = try await agent.importCache(Secret("[\(entries.joined(separator: ","))]"), format: .adalJSON)
        return try #require(try await peer.ask(ExportCache.first)?.next)
    }
}
