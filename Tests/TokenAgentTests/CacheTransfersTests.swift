internal import AccessPolicy
internal import Foundation
internal import Logging
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel
internal import TokenStore

@testable internal import TokenAgent

/// Imports and exports: how many are in progress, and what they read.
@Suite(.bounded) struct CacheTransfersTests {
    private let parts = Parts()

    /// Each of them reads every token of its sharing group, on the thread that all exports share.
    @Test(arguments: [false, true]) func countsExportsThatAreBeingRead(afterTheirConnectionsEnd: Bool) async throws {
        let exports = try await parts.beginExports(
            (1...9).map { ConnectionID(number: $0) }, endingConnections: afterTheirConnectionsEnd)
        let errors = try await Self.errors(of: exports)
        let expected: TokenError.Code? = afterTheirConnectionsEnd ? .sessionCanceled : nil
        #expect(errors.dropLast().allSatisfy { $0 == expected })
        #expect(errors.last == .interactionInProgress)
    }

    /// Other processes can begin one then.
    @Test(arguments: [false, true]) func limitsTheTransfersOfAProcess(afterTheirConnectionsEnd: Bool) async throws {
        let connections = (1...6).map { ConnectionID(number: $0, processID: $0 < 6 ? 7 : 8) }
        let errors = try await Self.errors(
            of: parts.beginExports(connections, endingConnections: afterTheirConnectionsEnd))
        let expected: TokenError.Code? = afterTheirConnectionsEnd ? .sessionCanceled : nil
        #expect(errors == [expected, expected, expected, expected, .interactionInProgress, expected])
    }

    /// An import takes the work for its own accounts, however many others there are.
    @Test func readsTheTokensOfTheAccountsInAFileOnly() async throws {
        for user in ["alice", "bob", "carol"] { try await parts.signIn(user, user).value() }
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
        let alice = HomeAccountID.sample("alice").text
        let file = """
            {"RefreshToken":{"entry":{"credential_type":"RefreshToken","home_account_id":"\(alice)",\
            "environment":"login.microsoftonline.com","client_id":"\(ClientID.sample.text)","secret":"rt-alice"}}}
            """
        let reply = try await parts.importCache(file).value()
        #expect(reply.report?.skipped.map(\.reason) == ["the cache has it already"])
        let read = parts.store.readKeys
        #expect(!read.isEmpty)
        #expect(read.allSatisfy { $0.key.hasPrefix("\(alice)-") })
    }

    /// The copy of the cache has them under the username, where the store does not have them any more.
    @Test func exportsTokensThatGetTheirIdentifierMeanwhile() async throws {
        try await parts.signInByName("1").value()
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
        parts.store.holdNextRead()
        let exports = try await parts.beginExports(
            [ConnectionID(number: 1)], endingConnections: false, format: .adalArchive)
        let export = try #require(exports.first)
        let read = await parts.store.heldReads.next()
        try await parts.signIn("alice", "3").value()
        read.resume()
        let file = try await export.value().data.withBytes { Array($0) }
        #expect(file.firstRange(of: Array("rt-1".utf8)) != nil)
    }

    /// An app shows nothing for `sessionCanceled`, which is for what its user or itself has cancelled.
    @Test func endsAnExportWithTheReasonWhileItsNextPartIsRead() async throws {
        let token = String(repeating: "t", count: 4096)
        for number in 1...40 { try await parts.signIn("user\(number)", token).value() }
        let part = try await parts.beginExportOfTwoParts(cancelling: .storeWasLocked)
        #expect(try await part.error()?.code == .storeUnavailable)
    }

    /// A lock that was requested in the turn of the event loop in which the last part arrives cancels the import before it begins.
    @Test func endsAnImportThatHasNotBegunWithTheReason() async throws {
        let last = try await parts.beginImport("{}", cancelling: .storeWasLocked)
        #expect(try await last.error()?.code == .storeUnavailable)
    }

    /// The file is being read, and its parts are not in memory any more.
    @Test func continuesNoImportThatIsComplete() async throws {
        let (last, further) = try await parts.completeImportTwice()
        #expect(try await further.error()?.code == .sessionCanceled)
        try await last.value()
    }

    /// An app that sends a request again would get the same part as the next one.
    @Test func continuesNoExportWhosePartIsBeingRead() async throws {
        let token = String(repeating: "t", count: 4096)
        for number in 1...100 { try await parts.signIn("user\(number)", token).value() }
        let (part, further) = try await parts.requestTheSecondPartTwice()
        #expect(try await further.error()?.code == .sessionCanceled)
        #expect(try await part.value().next != nil)
    }

    /// The file has another token in the place of the one of which a reply was lost.
    @Test func forgetsTheLostReplyOfATokenThatAnImportReplaces() async throws {
        try await parts.signIn("alice", "1").value()
        try await parts.interruptEveryRedemption()
        let imported = try await parts.importCache(Self.file("rt-2", of: "alice", at: parts.clock.now)).value()
        #expect(imported.report?.refreshTokens == 1)
        let request = await parts.acquire(.sample("alice"))
        let redemption = await parts.provider.redemptions.next()
        #expect(redemption.token == "rt-2")
        redemption.fail(.invalidGrant)
        #expect(try await request.error()?.message.contains("no answer came") == false)
    }

    /// The store has been locked meanwhile. Nobody could continue the export, which would count as one in progress for ever.
    @Test func keepsNoExportThatIsCancelledWhileItsTokensAreRead() async throws {
        try await restart(with: "alice")
        let (cancelled, others) = try await parts.exportAfterCancelling(.storeWasLocked, others: 4)
        #expect(cancelled?.code == .storeUnavailable)
        #expect(try await Self.errors(of: others) == [nil, nil, nil, nil], "as many as a process may have")
    }

    /// The export would be kept for a connection that is not there any more.
    @Test func endsAnExportWithItsConnectionWhileItsNextPartIsRead() async throws {
        let token = String(repeating: "t", count: 4096)
        for number in 1...40 { try await parts.signIn("user\(number)", token).value() }
        let part = try await parts.endTheConnectionOfAnExportOfTwoParts()
        #expect(try await part.error()?.code == .sessionCanceled)
    }

    /// Its file is in memory until it has been imported: a process could otherwise begin any number of imports.
    @Test func countsACompleteImportAlsoIfItsConnectionHasEnded() async throws {
        try await restart(with: "alice")
        let file = Self.file("rt-2", of: "alice", at: parts.clock.now)
        let (complete, others) = try await parts.beginImports(besideACompleteOneOf: file)
        var codes: [TokenError.Code?] = []
        for other in others { codes.append(try await other.error()?.code) }
        #expect(codes == [nil, nil, nil, .interactionInProgress])
        #expect(try await complete.value().report?.refreshTokens == 1)
    }

    /// Signs a user in, and starts the agent again, so that the tokens are in the store only.
    private func restart(with user: String) async throws {
        try await parts.signIn(user, "1").value()
        parts.store.answerLoads(with: .success(parts.store.loadedWithoutTokens))
        try await parts.loadStore().value()
    }

    /// A cache of MSAL's libraries with a refresh token.
    private static func file(_ token: String, of user: String, at time: Int64) -> String {
        """
        {"RefreshToken":{"entry":{"credential_type":"RefreshToken","home_account_id":"\(HomeAccountID.sample(user).text)",\
        "environment":"login.microsoftonline.com","client_id":"\(ClientID.sample.text)","secret":"\(token)",\
        "last_modification_time":"\(time)"}}}
        """
    }

    private static func errors(of exports: [Pending<ExportCache.Reply>]) async throws -> [TokenError.Code?] {
        var errors: [TokenError.Code?] = []
        for export in exports { errors.append(try await export.error()?.code) }
        return errors
    }
}

extension Parts {
    /// Begins exports in one turn of the event loop, so that none has been read when the last one begins.
    fileprivate func beginExports(
        _ connections: [ConnectionID], endingConnections: Bool, format: CacheFormat = .msalJSON
    ) throws -> [Pending<ExportCache.Reply>] {
        let transfers = try makeTransfers()
        return connections.map { connection in
            let answer = transfers.send(ExportCache(format: format, includesSecrets: true), to: connection)
            if endingConnections { transfers.discardAll(of: connection) }
            return pending(answer)
        }
    }

    /// Begins an export, and cancels it in the turn of the event loop in which its second part is requested.
    ///
    /// - Returns: the second part.
    fileprivate func beginExportOfTwoParts(cancelling reason: TokenError) async throws -> Pending<ExportCache.Reply> {
        let (transfers, connection) = (try makeTransfers(), ConnectionID(number: 1))
        var request = ExportCache(format: .msalJSON, includesSecrets: true)
        let first = try await pending(transfers.send(request, to: connection)).value()
        request.exportID = first.next
        let second = pending(transfers.send(request, to: connection))
        transfers.cancelAll(reason)
        return second
    }

    /// Begins an export, and ends its connection in the turn of the event loop in which its second part is requested.
    ///
    /// - Returns: the second part.
    fileprivate func endTheConnectionOfAnExportOfTwoParts() async throws -> Pending<ExportCache.Reply> {
        let (transfers, connection) = (try makeTransfers(), ConnectionID(number: 1))
        var request = ExportCache(format: .msalJSON, includesSecrets: true)
        let first = try await pending(transfers.send(request, to: connection)).value()
        try #require(first.next != nil)
        request.exportID = first.next
        let second = pending(transfers.send(request, to: connection))
        transfers.discardAll(of: connection)
        return second
    }

    /// Begins an export, which is cancelled while its tokens are read, and then others, in one turn of the event loop.
    fileprivate func exportAfterCancelling(
        _ reason: TokenError, others: Int
    ) async throws -> (cancelled: TokenError?, others: [Pending<ExportCache.Reply>]) {
        let (transfers, connection) = (try makeTransfers(), ConnectionID(number: 1))
        let request = ExportCache(format: .msalJSON, includesSecrets: true)
        store.holdNextRead()
        let export = pending(transfers.send(request, to: connection))
        let read = await store.heldReads.next()
        transfers.cancelAll(reason)
        read.resume()
        let cancelled = try await export.error()
        return (cancelled, (0..<others).map { _ in pending(transfers.send(request, to: connection)) })
    }

    /// Ends the connection of a complete import while its file is compared with the cache, and then begins four others of the process.
    fileprivate func beginImports(
        besideACompleteOneOf file: String
    ) async throws -> (complete: Pending<ImportCache.Reply>, others: [Pending<ImportCache.Reply>]) {
        let transfers = try makeTransfers()
        let connections = (1...5).map { ConnectionID(number: $0, processID: 7) }
        store.holdNextRead()
        var request = ImportCache(format: .msalJSON, data: Secret(file), isLast: true)
        let complete = pending(transfers.receive(request, from: connections[0]))
        let read = await store.heldReads.next()
        transfers.discardAll(of: connections[0])
        (request.data, request.isLast) = (Secret("{"), false)
        let others = connections.dropFirst().map { pending(transfers.receive(request, from: $0)) }
        read.resume()
        return (complete, others)
    }

    /// Begins the import of a file of MSAL's libraries, and cancels it in the same turn of the event loop.
    fileprivate func beginImport(_ file: String, cancelling reason: TokenError) throws -> Pending<ImportCache.Reply> {
        let transfers = try makeTransfers()
        let request = ImportCache(format: .msalJSON, data: Secret(file), isLast: true)
        let answer = transfers.receive(request, from: ConnectionID(number: 1))
        transfers.cancelAll(reason)
        return pending(answer)
    }

    /// Sends the last part of an import twice in one turn of the event loop.
    fileprivate func completeImportTwice() async throws -> (Pending<ImportCache.Reply>, Pending<ImportCache.Reply>) {
        let (transfers, connection) = (try makeTransfers(), ConnectionID(number: 1))
        var request = ImportCache(format: .msalJSON, data: Secret("{"), isLast: false)
        request.importID = try await pending(transfers.receive(request, from: connection)).value().importID
        (request.data, request.isLast) = (Secret("}"), true)
        return (
            pending(transfers.receive(request, from: connection)), pending(transfers.receive(request, from: connection))
        )
    }

    /// Begins an export, and requests its second part twice in one turn of the event loop.
    fileprivate func requestTheSecondPartTwice() async throws -> (
        Pending<ExportCache.Reply>, Pending<ExportCache.Reply>
    ) {
        let (transfers, connection) = (try makeTransfers(), ConnectionID(number: 1))
        var request = ExportCache(format: .msalJSON, includesSecrets: true)
        request.exportID = try await pending(transfers.send(request, to: connection)).value().next
        return (pending(transfers.send(request, to: connection)), pending(transfers.send(request, to: connection)))
    }

    /// Begins the import of a file of MSAL's libraries, in one part.
    fileprivate func importCache(_ file: String) throws -> Pending<ImportCache.Reply> {
        let request = ImportCache(format: .msalJSON, data: Secret(file), isLast: true)
        return pending(try makeTransfers().receive(request, from: ConnectionID(number: 1)))
    }

    private func makeTransfers() throws -> CacheTransfers {
        let clock = clock
        let options = AgentOptions(
            socketPath: "/agent.sock", stateDirectory: "/state", allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return CacheTransfers(core, options)
    }

    private func pending<Value: Sendable>(_ answer: Answer<Value>) -> Pending<Value> {
        switch answer {
        case .now(let outcome): Pending(loop.makeSucceededFuture(outcome))
        case .repeatable(let reply, _): Pending(loop.makeSucceededFuture(.success(reply)))
        case .later(let future): Pending(future)
        }
    }
}
