internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenEndpoint

/// Which users' connections the redirect listener admits.
@Suite(.bounded) struct LoopbackPeersTests {
    /// A listener, the refusals that it has reported, and its port.
    private struct Listener: Sendable {
        let redirect: LoopbackRedirect
        let refusals: Refusals
        var port: Int { URL(string: redirect.redirectURI)?.port ?? 0 }
    }

    private final class Refusals: Sendable {
        private let list = Mutex<[LoopbackRedirect.Refusal]>([])
        var all: [LoopbackRedirect.Refusal] { list.withLock { $0 } }
        func add(_ refusal: LoopbackRedirect.Refusal) { list.withLock { $0.append(refusal) } }
    }

    /// The kernel's table without the query for one socket, as in a sandbox without netlink.
    private static let searchOnly = SocketTable(query: { _, _ in nil }, search: SocketTable.system.search)

    private func listen(
        userID: UInt32 = geteuid(), table: SocketTable = .system, redirectURI: String? = nil
    ) async throws -> Listener {
        let refusals = Refusals()
        let redirect = try await LoopbackRedirect.listen(
            LoopbackTarget(redirectURI), LoopbackPeers(userID: userID, table: table, onRefusal: refusals.add),
            state: "s", timeout: .seconds(600))
        return Listener(redirect: redirect, refusals: refusals)
    }

    /// Sends the authorization response as the right user, and expects that the listener takes it.
    private func expectSignIn(_ listener: Listener) async throws {
        let page = try await WebClient.send(listener.redirect.redirectURI + "/?code=good&state=s")
        #expect(page.body.contains("You are signed in"))
        #expect(try await listener.redirect.response().contains("code=good"))
    }

    @Test(
        .enabled(if: OtherUser.isPossible, "only root can become another user"),
        arguments: [false, true], LoopbackAddress.all)
    func refusesTheRightResponseFromAnotherUser(searches: Bool, address: String) async throws {
        let listener = try await listen(table: searches ? Self.searchOnly : .system)
        defer { listener.redirect.close() }
        let answer = try await OtherUser.get("/?code=evil&state=s", at: address, port: listener.port)
        #expect(answer.isEmpty)
        #expect(listener.refusals.all == [.anotherUser(OtherUser.id)])
        try await expectSignIn(listener)
    }

    @Test(
        .enabled("the system has to let users create user namespaces") { try await OtherUser.canBeRootOfANamespace() })
    func refusesAnotherUserWhoIsRootOfItsOwnNamespace() async throws {
        let listener = try await listen()
        defer { listener.redirect.close() }
        let answer = try await OtherUser.get(
            "/?code=evil&state=s", at: "127.0.0.1", port: listener.port, isRootOfANamespace: true)
        #expect(answer.isEmpty)
        #expect(listener.refusals.all == [.anotherUser(OtherUser.id)])
        try await expectSignIn(listener)
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func countsNoConnectionOfAnotherUser() async throws {
        let listener = try await listen()
        defer { listener.redirect.close() }
        let crowd = try OtherUser.connections(32, to: "127.0.0.1", port: listener.port)
        try await crowd.waitForOutput("connected")
        try await expectSignIn(listener)
        #expect(listener.refusals.all == [.anotherUser(OtherUser.id)], "one report, however many connections")
        try await crowd.killHard()
    }

    @Test(.enabled(if: OtherUser.isPossible, "only root can become another user"))
    func showsTheSignInPageToTheRightUserOnly() async throws {
        let listener = try await listen()
        defer { listener.redirect.close() }
        let launch = try #require(listener.redirect.launchURL(leadingTo: "https://id.example/authorize?state=s"))
        let path = try #require(URL(string: launch)).path
        #expect(try await OtherUser.get(path, at: "127.0.0.1", port: listener.port).isEmpty)
        let page = try await WebClient.send(launch)
        #expect(page.status == 302)
        #expect(page.headers["location"] == "https://id.example/authorize?state=s")
        try await expectSignIn(listener)
    }

    @Test(.enabled(if: geteuid() == 0, "the test has to be root itself"))
    func admitsRoot() async throws {
        let listener = try await listen(userID: 4711)
        defer { listener.redirect.close() }
        try await expectSignIn(listener)
    }

    @Test(.enabled(if: geteuid() != 0, "root is always admitted"))
    func refusesTheUserOfTheTestForAnotherUsersAgent() async throws {
        let listener = try await listen(userID: 4711)
        defer { listener.redirect.close() }
        await #expect(throws: (any Error).self) { try await expectSignIn(listener) }
        #expect(listener.refusals.all == [.anotherUser(geteuid())])
    }

    private static let redirectURIs: [String?] =
        [nil, "http://127.0.0.1"] + (LoopbackAddress.hasIPv6 ? ["http://[::1]"] : [])

    @Test(arguments: redirectURIs)
    func admitsTheRightUserWithoutNetlink(redirectURI: String?) async throws {
        let listener = try await listen(table: Self.searchOnly, redirectURI: redirectURI)
        defer { listener.redirect.close() }
        try await expectSignIn(listener)
        #expect(listener.refusals.all.isEmpty)
    }

    /// A page that is being sent is completed.
    @Test func endsTheThreadOfASignInWithItsLastConnection() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let thread = LoopbackThread { end.finish() }
        let connection = thread.group.next().makePromise(of: Void.self)
        thread.keep(until: connection.futureResult)
        thread.release()
        #expect(try await thread.group.next().submit { 1 }.get() == 1)
        connection.succeed()
        for await _ in ends {}
    }

    @Test func closesAListenerTwice() async throws {
        let listener = try await listen()
        try await expectSignIn(listener)
        listener.redirect.close()
        listener.redirect.close()
    }

    @Test func refusesToListenIfTheKernelDoesNotTell() async throws {
        let silent = SocketTable(query: { _, _ in nil }, search: { _, _ in nil })
        let error = await failure { () async throws(TokenError) in
            try await LoopbackRedirect.listen(
                LoopbackTarget(nil), LoopbackPeers(userID: geteuid(), table: silent), state: "s",
                timeout: .seconds(600))
        }
        #expect(error?.code == .authorizationFailed)
        #expect(error?.message.contains("device code") == true)
    }

    @Test func refusesAConnectionThatTheKernelDoesNotKnow() async throws {
        // The listener is found, its peers are not, as if they had closed at once.
        let forgetful = SocketTable(
            query: { own, remote in remote.port == 0 ? SocketTable.system.query(own, remote) : nil },
            search: { _, _ in nil })
        let listener = try await listen(table: forgetful)
        defer { listener.redirect.close() }
        await #expect(throws: (any Error).self) { try await expectSignIn(listener) }
        #expect(listener.refusals.all == [.unknownUser])
    }

    @Test func leadsToPagesWhoseURLCanBeInAHeaderFieldOnly() async throws {
        let listener = try await listen()
        defer { listener.redirect.close() }
        for page in ["https://id.example/a\r\nSet-Cookie: x=1", "https://id.example/a b", "https://id.example/ä"] {
            #expect(listener.redirect.launchURL(leadingTo: page) == nil)
        }
    }

    @Test(.enabled(if: LoopbackAddress.hasIPv6, "localhost has one address only"))
    func doesNotListenWhereAnotherProcessHasHalfOfLocalhost() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        for _ in 0..<50 {
            let other = try await ServerBootstrap(group: group).bind(host: "::1", port: 0).get()
            let port = try #require(other.localAddress?.port)
            let error = await failure { () async throws(TokenError) in
                try await LoopbackRedirect.listen(
                    redirectURI: "http://localhost:\(port)", state: "s", userID: geteuid())
            }
            #expect(error?.code == .authorizationFailed)
            // Connections of other tests may have the port at the other address.
            let literal = try? await LoopbackRedirect.listen(
                redirectURI: "http://127.0.0.1:\(port)", state: "s", userID: geteuid())
            try await other.close()
            guard let literal else { continue }
            return literal.close()
        }
        Issue.record("it does not listen at an address that is free")
    }
}
