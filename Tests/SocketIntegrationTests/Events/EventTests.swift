internal import AccessPolicy
internal import AgentClient
internal import AgentTestSupport
internal import EntraEmulator
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

/// Events as apps get them.
@Suite(.bounded) struct EventTests {
    private static let alice = "alice@contoso.com"

    private func watch(
        _ f: AgentFixture, _ clientID: String? = nil, group: SharingGroup = .standard
    ) async throws -> AgentEvents.Iterator {
        var events = f.agent.events(WatchEvents(clientID: clientID.flatMap(ClientID.init), sharingGroup: group))
            .makeAsyncIterator()
        #expect(try await events.next()?.kind == .resynchronise)
        #expect(try await events.next()?.storeState == .open)
        return events
    }

    @Test func tellsOfAccountsSignOutsAndSignInsThatAreDue() async throws {
        try await AgentFixture.with { f in
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            var events = try await watch(f)
            let account = try await f.signIn(Self.alice, f.parameters()).account
            let added = try #require(try await events.next())
            #expect(added.kind == .accountAdded && added.account?.homeAccountID == account.homeAccountID)
            #expect(added.account?.username == Self.alice && added.account?.homeIDToken == nil)

            try await f.signIn(Self.alice, f.parameters("app-2"))
            #expect(try await events.next()?.kind == .accountChanged)

            f.emulator.control.inject(
                Fault {
                    ($0.grant, $0.error, $0.suberror) = (.refreshToken, "invalid_grant", "basic_action")
                })
            await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account.reference, force: true)
            }
            let due = try #require(try await events.next())
            #expect(due.kind == .interactionDue && due.clientID?.text == "app-1")
            #expect(due.account?.username == Self.alice)

            let clientID = try #require(ClientID("app-1"))
            _ = try await f.agent.removeAccount(RemoveAccount(clientID: clientID, account: account.reference))
            let signedOut = try #require(try await events.next())
            #expect(signedOut.kind == .signedOut && signedOut.clientID == clientID)

            _ = try await f.agent.removeAccount(
                RemoveAccount(clientID: clientID, account: account.reference, extent: .account))
            #expect(try await events.next()?.kind == .accountRemoved)
        }
    }

    /// An app that needs more than the sign-in for one request, such as an authentication context, asks the user by itself. Other requests do
    /// not need it.
    @Test func saysNothingOfASignInForAClaimsRequest() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account.reference
            var events = try await watch(f, "app-1")
            let claims = #"{"access_token":{"acrs":{"essential":true,"value":"c1"}}}"#
            let error = await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(claims: claims), account)
            }
            #expect(error?.details.stsErrorCodes == [50076])
            try await f.signIn("bob@contoso.com", f.parameters())
            #expect(try await events.next()?.account?.username == "bob@contoso.com")
            // A refusal of the refresh token itself concerns every request.
            f.emulator.control.revokeTokens(of: Self.alice)
            await #expect(throws: TokenError.self) { try await f.silent(f.parameters(claims: claims), account) }
            #expect(try await events.next()?.kind == .interactionDue)
        }
    }

    /// The list of the app loses the account, and nobody has signed out.
    @Test func tellsThatTheIdentityProviderHasDeletedTheUser() async throws {
        try await AgentFixture.with { f in
            let account = try await f.signIn(Self.alice, f.parameters()).account
            try await f.signIn(Self.alice, f.parameters("app-2"))
            var events = try await watch(f, "app-1")
            f.emulator.control.inject(
                Fault {
                    ($0.grant, $0.error, $0.suberror) = (.refreshToken, "invalid_grant", "user_account_deleted")
                })
            await #expect(throws: TokenError.self) {
                try await f.silent(f.parameters(), account.reference, force: true)
            }
            let removed = try #require(try await events.next())
            #expect(removed.kind == .accountRemoved && removed.account?.username == Self.alice)
            #expect(removed.clientID == nil)
            #expect(try await events.next()?.kind == .interactionDue)
        }
    }

    @Test func tellsWhenTheStoreIsLockedAndUnlocked() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            var events = try await watch(f)
            _ = try await f.agent.lock()
            #expect(try await events.next()?.storeState == .locked)
            _ = try await f.agent.unlock(Unlock())
            #expect(try await events.next()?.kind == .resynchronise)
            #expect(try await events.next()?.storeState == .open)
        }
    }

    @Test func tellsAnAppOfItsAccountsOnly() async throws {
        try await AgentFixture.with { f in
            let group = try #require(SharingGroup("other"))
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            var events = try await watch(f, "app-1")
            try await f.signIn(Self.alice, f.parameters("app-2"))
            try await f.signIn("bob@contoso.com", f.parameters(group: group))
            try await f.signIn("carol@contoso.com", f.parameters())
            #expect(try await events.next()?.account?.username == "carol@contoso.com")
        }
    }

    @Test func continuesAtAPositionOnAnotherConnection() async throws {
        try await AgentFixture.with { f in
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            var first = try await watch(f)
            try await f.signIn(Self.alice, f.parameters())
            let seen = try #require(try await first.next())
            try await f.signIn("bob@contoso.com", f.parameters())
            var second = f.agent.events(WatchEvents(clientID: nil, position: seen.position)).makeAsyncIterator()
            #expect(try await second.next()?.account?.username == "bob@contoso.com")
        }
    }

    @Test func continuesAfterARestartOfTheAgent() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            var events = try await watch(f)
            try await f.restarted { f in
                #expect(try await events.next()?.kind == .resynchronise)
                // Once more when the store has been loaded, if it was not.
                while try await events.next()?.storeState != .open {}
                try await f.signIn("bob@contoso.com", f.parameters())
                #expect(try await events.next()?.account?.username == "bob@contoso.com")
            }
        }
    }

    /// A subscription at a position has no reply as long as nothing happens. The client itself repeats the request once.
    @Test func continuesAtAPositionAfterConnectionsThatHadNoEvent() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            var first = f.agent.events().makeAsyncIterator()
            var position: EventPosition?
            while let event = try await first.next() {
                position = event.position
                if event.storeState == .open { break }
            }
            let path = f.folder.file("relay.sock")
            let relay = try SocketRelay(at: path, to: f.socketPath, closedConnections: 4)
            defer { relay.end() }
            let request = WatchEvents(clientID: nil, position: position)
            let next = Task {
                var events = AgentClient(socketPath: path).events(request).makeAsyncIterator()
                return try await events.next()
            }
            try await offPool { relay.waitForLastingConnection() }
            try await f.signIn("bob@contoso.com", f.parameters())
            let event = try #require(try await next.value)
            #expect(event.kind == .accountAdded && event.account?.username == "bob@contoso.com")
        }
    }

    @Test func endsWithTheTaskThatIterates() async throws {
        try await AgentFixture.with { f in
            _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
            let (started, start) = AsyncStream<Void>.makeStream()
            let task = Task {
                var count = 0
                for try await _ in f.agent.events() {
                    count += 1
                    start.yield()
                }
                return count
            }
            var starts = started.makeAsyncIterator()
            _ = await starts.next()
            _ = await starts.next()
            task.cancel()
            #expect(try await task.value == 2)
        }
    }

    @Test func failsWithoutAnAgent() async throws {
        let folder = try TemporaryFolder()
        var events = AgentClient(socketPath: folder.file("no.sock")).events().makeAsyncIterator()
        let error = await #expect(throws: TokenError.self) { try await events.next() }
        #expect(error?.code == .agentUnavailable)
        #expect(try await events.next() == nil)
    }

    /// The peer closes its sending side while it waits: it gets a reply without events, and the connection is closed.
    @Test func answersAPeerThatStopsSending() async throws {
        try await AgentFixture.with { f in
            let (peer, position) = try await Self.watchingPeer(f)
            peer.finishWriting()
            let replies = try await offPool {
                var replies: [WatchEvents.Reply] = []
                while let reply = try peer.reply() { replies.append(try reply.reply(to: WatchEvents.self)) }
                return replies
            }
            #expect(replies.map(\.events) == [[]])
            #expect(replies.first?.position == position)
        }
    }

    /// Nothing after a frame that is too long can be read: the waiting request is answered, and the connection is closed.
    @Test func answersAPeerThatSendsABrokenFrame() async throws {
        try await AgentFixture.with { f in
            let (peer, _) = try await Self.watchingPeer(f)
            _ = peer.write([0xFF, 0xFF, 0xFF, 0xFF])
            let ids = try await offPool {
                var ids: [UInt64] = []
                while let reply = try peer.reply() { ids.append(reply.id) }
                return ids
            }
            #expect(ids.sorted() == [0, 2])
        }
    }

    /// A peer whose second request waits for the next event.
    private static func watchingPeer(_ f: AgentFixture) async throws -> (RawPeer, EventPosition) {
        // The store has been loaded, so that there is no event to come.
        _ = try await f.agent.listAccounts(ListAccounts(clientID: nil))
        let peer = try RawPeer(f.socketPath)
        var reply = try #require(try await peer.ask(WatchEvents(clientID: nil)))
        while !reply.events.contains(where: { $0.storeState == .open }) {
            reply = try #require(try await peer.ask(WatchEvents(clientID: nil, position: reply.position)))
        }
        try peer.write(WatchEvents(clientID: nil, position: reply.position), id: 2)
        return (peer, reply.position)
    }

    @Test func doesNotTakeAGuessedPositionForAConfirmation() async throws {
        let rules = [
            PolicyRule(requests: .named(["watch_events"], includesOwn: false), effect: .confirm), .everything,
        ]
        try await AgentFixture.with(rules: rules) { f in
            // Nobody can be asked in this process.
            let peer = try RawPeer(f.socketPath)
            let error = await #expect(throws: TokenError.self) { try await peer.ask(WatchEvents(clientID: nil)) }
            #expect(error?.code == .requestDenied)
            let guessed = WatchEvents(clientID: nil, position: EventPosition(feed: 1, generation: 1))
            let other = await #expect(throws: TokenError.self) { try await peer.ask(guessed) }
            #expect(other?.code == .requestDenied)
        }
    }

    @Test func tellsThePeersOfAPublishedSocketWhatTheyMayList() async throws {
        try await AgentFixture.with { f in
            try await f.signIn(Self.alice, f.parameters())
            try await f.published(account: Self.alice) { client in
                let own = try #require(ClientID("app-1"))
                var events = client.events(WatchEvents(clientID: own)).makeAsyncIterator()
                #expect(try await events.next()?.kind == .resynchronise)
                #expect(try await events.next()?.storeState == .open)
                try await f.signIn("bob@contoso.com", f.parameters())
                _ = try await f.agent.removeAccount(
                    RemoveAccount(clientID: own, account: AccountReference(username: Self.alice)))
                let told = try #require(try await events.next())
                #expect(told.kind == .signedOut && told.account?.username == Self.alice)
                for refused in [nil, ClientID("app-2")] {
                    var events = client.events(WatchEvents(clientID: refused)).makeAsyncIterator()
                    let error = await #expect(throws: TokenError.self) { try await events.next() }
                    #expect(error?.code == .requestDenied)
                }
            }
        }
    }
}
