internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// Listeners that cannot accept a connection.
@Suite(.bounded) struct AcceptPauseTests {
    @Test func listensAgainAfterAPauseIfTheProcessHasNoDescriptors() async throws {
        let folder = try TemporaryFolder()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .pausingAfterFailures()
            .bind(unixDomainSocketPath: folder.file("socket")).get()
        let readsAtOnce = try await listener.eventLoop.submit {
            listener.pipeline.syncOperations.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            return try listener.syncOptions?.getOption(.autoRead)
        }.get()
        #expect(readsAtOnce == false)
        while try await !listener.getOption(.autoRead).get() {}
        try await listener.close()
    }
}
