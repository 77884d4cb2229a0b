internal import Foundation
internal import ListenerSupport
internal import NIOCore
internal import NIOPosix
internal import TestSupport
internal import Testing

@testable internal import TokenEndpoint

/// Listeners that cannot accept a connection.
@Suite(.bounded) struct AcceptPauseTests {
    @Test func listensAgainAfterAPauseIfTheProcessHasNoDescriptors() async throws {
        let folder = try TemporaryFolder()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .pausingAfterFailures()
            .bind(unixDomainSocketPath: folder.file("socket")).get()
        try await expectPause(of: listener)
        try await listener.close()
    }

    @Test func pausesTheListenersOfASignIn() async throws {
        let redirect = try await LoopbackRedirect.listen(redirectURI: nil, state: "s", userID: geteuid())
        defer { redirect.close() }
        for listener in redirect.listeners { try await expectPause(of: listener) }
    }

    /// Has a listener fail to accept a connection, and waits until it listens again.
    private func expectPause(of listener: any Channel) async throws {
        let readsAtOnce = try await listener.eventLoop.submit {
            listener.pipeline.syncOperations.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
            return try listener.syncOptions?.getOption(.autoRead)
        }.get()
        #expect(readsAtOnce == false)
        while try await !listener.getOption(.autoRead).get() {}
    }
}
