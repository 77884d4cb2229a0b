internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// What caches under way may cost, and whose they are.
@Suite(.bounded) struct TransferLimitTests {
    @Test func forgetsWhatNobodyGoesOnWithForAMinute() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            let export = try await f.beginExport(peer)
            try await f.timers.advance(by: 59)
            try await peer.importID(adding: "\n", to: id)
            let next = try #require(try await peer.exported(export).next)

            // Each part is another minute.
            try await f.timers.advance(by: 59)
            #expect(try await peer.importID(adding: "\n", to: id) == id)
            let last = try #require(try await peer.exported(next).next)
            try await f.timers.advance(by: 60)
            #expect(try await peer.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: last)) == .sessionCanceled)
        }
    }

    @Test func takesNoMoreThanEightAtATime() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            for _ in 0..<8 { try await peer.importID(adding: "[") }
            let other = try RawPeer(f.socketPath)
            #expect(try await other.refusal(of: .part("[")) == .interactionInProgress)
            #expect(try await other.refusal(of: .first) == .interactionInProgress)
            try await f.timers.advance(by: 60)
            try await other.importID(adding: "[")
        }
    }

    @Test func takesNoMoreThanItsLimitAltogether() async throws {
        // A small one, since it takes long to fill the usual 256 MiB.
        let room = 4 << 20
        try await AgentFixture.with(importLimit: room) { f in
            let peer = try RawPeer(f.socketPath)
            let first = try await peer.importID(adding: "[")
            let second = try await peer.importID(adding: "[")
            // Two that are under way share the room.
            try await peer.fill(first, with: room / 2 - 1)
            try await peer.fill(second, with: room / 2 - 1)
            #expect(try await peer.refusal(of: .part(" ", of: second)) == .frameTooLarge)
            // The one that is too long is gone, and its room is free.
            #expect(try await peer.refusal(of: .part(" ", of: second)) == .sessionCanceled)
            let third = try await peer.importID(adding: "[")
            try await peer.fill(third, with: room / 2 - 1)
            try await f.timers.advance(by: 60)
            try await peer.fill(try await peer.importID(adding: "["), with: 60 * 1024)
        }
    }

    /// The agent keeps bytes, not parts.
    @Test func takesVeryManyEmptyAndTinyParts() async throws {
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

    @Test func keepsTwoApartThatComeInTurns() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let first = try await peer.importID(adding: "[{}")
            let second = try await peer.importID(adding: "[{},{}")
            try await peer.importID(adding: ",{}", to: first)
            try await peer.importID(adding: ",{}", to: second)
            for (id, count) in [(first, 2), (second, 3)] {
                let reply = try #require(try await peer.ask(ImportCache.part("]", of: id, isLast: true)))
                #expect(reply.report?.skippedCount == Int64(count))
                // It is finished, and there is nothing to go on with.
                #expect(try await peer.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            }
        }
    }

    @Test func doesNotGoOnWithATransferThatItDoesNotKnow() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            #expect(try await peer.refusal(of: .part("{", of: "x", isLast: true)) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: "x")) == .sessionCanceled)
            #expect(try await peer.refusal(of: .more(of: id)) == .sessionCanceled)
        }
    }

    @Test func letsNoOtherConnectionGoOn() async throws {
        try await AgentFixture.with { f in
            let peer = try RawPeer(f.socketPath)
            let other = try RawPeer(f.socketPath)
            let id = try await peer.importID(adding: "[")
            let export = try await f.beginExport(peer)
            #expect(try await other.refusal(of: .part("]", of: id, isLast: true)) == .sessionCanceled)
            #expect(try await other.refusal(of: .more(of: export)) == .sessionCanceled)
            // Nor does the attempt do any harm.
            #expect(try await peer.importID(adding: " ", to: id) == id)
            #expect(try await !peer.exported(export).data.isEmpty)
        }
    }

    @Test func forgetsWhatAConnectionLeavesBehind() async throws {
        try await AgentFixture.with { f in
            let other = try RawPeer(f.socketPath)
            do {
                let peer = try RawPeer(f.socketPath)
                for _ in 0..<7 { try await peer.importID(adding: "[") }
                _ = try await f.beginExport(peer)
                #expect(try await other.refusal(of: .part("[")) == .interactionInProgress)
                peer.finishWriting()
                _ = try await offPool { peer.isClosedByAgent() }
            }
            for _ in 0..<8 { try await other.importID(adding: "[") }
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
    /// Why the agent refuses a part of an import; nil if it does not.
    fileprivate func refusal(of part: ImportCache) async throws -> TokenError.Code? { try await code(of: part) }

    /// Why the agent refuses to go on with an export; nil if it does not.
    fileprivate func refusal(of part: ExportCache) async throws -> TokenError.Code? { try await code(of: part) }

    private func code(of request: some WireRequest) async throws -> TokenError.Code? {
        do {
            _ = try await ask(request)
            return nil
        } catch let error as TokenError {
            return error.code
        }
    }

    /// Sends a part that is not the last.
    @discardableResult
    fileprivate func importID(adding text: String, to id: String? = nil) async throws -> String {
        try #require(try await ask(ImportCache.part(text, of: id))).importID
    }

    fileprivate func exported(_ id: String) async throws -> ExportCache.Reply {
        try #require(try await ask(ExportCache.more(of: id)))
    }

    /// Sends so many bytes in parts that are not the last.
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
    /// Begins an export of a cache that takes several parts; what to ask next.
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
