internal import AccessPolicy
internal import Foundation
internal import Logging
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenEndpoint
internal import TokenModel

@testable internal import TokenAgent

/// The number of imports and exports in progress.
@Suite(.bounded) struct CacheTransfersTests {
    private let parts = Parts()

    /// Each of them reads every token of its sharing group, on the thread that all exports share.
    @Test(arguments: [false, true]) func countsExportsThatAreBeingRead(afterTheirSessionsEnd: Bool) async throws {
        let exports = try await parts.beginExports(
            (1...9).map { SessionID(number: $0) }, endingSessions: afterTheirSessionsEnd)
        let errors = try await Self.errors(of: exports)
        let expected: TokenError.Code? = afterTheirSessionsEnd ? .sessionCanceled : nil
        #expect(errors.dropLast().allSatisfy { $0 == expected })
        #expect(errors.last == .interactionInProgress)
    }

    /// Other processes can begin one then.
    @Test(arguments: [false, true]) func limitsTheTransfersOfAProcess(afterTheirSessionsEnd: Bool) async throws {
        let sessions = (1...6).map { SessionID(number: $0, processID: $0 < 6 ? 7 : 8) }
        let errors = try await Self.errors(of: parts.beginExports(sessions, endingSessions: afterTheirSessionsEnd))
        let expected: TokenError.Code? = afterTheirSessionsEnd ? .sessionCanceled : nil
        #expect(errors == [expected, expected, expected, expected, .interactionInProgress, expected])
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
        _ sessions: [SessionID], endingSessions: Bool
    ) throws -> [Pending<ExportCache.Reply>] {
        let clock = clock
        let options = AgentOptions(
            socketPath: "/agent.sock", stateDirectory: "/state", allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let transfers = CacheTransfers(core, options)
        return sessions.map { session in
            let answer = transfers.send(ExportCache(format: .msalJSON, includesSecrets: true), to: session)
            if endingSessions { transfers.discardAll(of: session) }
            return switch answer {
            case .now(let outcome): Pending(loop.makeSucceededFuture(outcome))
            case .repeatable(let reply, _): Pending(loop.makeSucceededFuture(.success(reply)))
            case .later(let future): Pending(future)
            }
        }
    }
}
