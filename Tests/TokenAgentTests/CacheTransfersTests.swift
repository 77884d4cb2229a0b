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
        let clock = parts.clock
        let options = AgentOptions(
            socketPath: "/agent.sock", stateDirectory: "/state", allowsLoopbackHTTP: false,
            network: try NetworkSettings(environment: [:]), policy: PeerPolicy(userID: geteuid()),
            now: { clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let exports = await parts.beginExports(9, options, endingSessions: afterTheirSessionsEnd)
        var errors: [TokenError.Code?] = []
        for export in exports { errors.append(try await export.error()?.code) }
        let expected: TokenError.Code? = afterTheirSessionsEnd ? .sessionCanceled : nil
        #expect(errors.dropLast().allSatisfy { $0 == expected })
        #expect(errors.last == .interactionInProgress)
    }
}

extension Parts {
    /// Begins exports in one turn of the event loop, so that none has been read when the last one begins.
    fileprivate func beginExports(
        _ count: Int, _ options: AgentOptions, endingSessions: Bool
    ) -> [Pending<ExportCache.Reply>] {
        let transfers = CacheTransfers(core, options)
        return (1...count).map { number in
            let session = SessionID(number: UInt64(number))
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
