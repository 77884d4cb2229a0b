/// Waits for changes of the accounts of a sharing group, or of those that an app sees, and of the store. The reply is `WatchEvents.Reply`,
/// which the agent sends when there is an event after `position`.
///
/// `AgentClient.events(_:)` sends it again and again. PROTOCOL.md, "watch_events".
public struct WatchEvents: Sendable, Equatable {
    /// The client ID of the app, whose list of signed-in accounts is watched; nil for every account of the group.
    public var clientID: ClientID?
    /// The partition of the cache.
    public var sharingGroup: SharingGroup
    /// The position after which events are wanted, as the agent has named it; nil for the present one, which the reply has at once.
    public var position: EventPosition?
    /// See `ConfinableRequest.isConfined`.
    package var isConfined = false

    /// Creates the request.
    public init(clientID: ClientID?, sharingGroup: SharingGroup = .standard, position: EventPosition? = nil) {
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.position = position
    }

    /// The events after a position.
    public struct Reply: Sendable, Equatable {
        /// The position after the events.
        public var position: EventPosition
        /// The events, in order; none if the agent is about to close the connection, or has read its configuration again.
        public var events: [AgentEvent]

        /// Creates the reply.
        public init(position: EventPosition, events: [AgentEvent]) {
            self.position = position
            self.events = events
        }
    }
}

extension WatchEvents: ConfinableRequest { package static let number: UInt32 = 41 }

/// A position in the events of an agent: what has been seen so far.
public struct EventPosition: Sendable, Hashable, Codable {
    /// The sequence of events; another one after a restart of the agent.
    public var feed: Int64
    /// The number of the last event that was seen.
    public var generation: Int64

    /// Creates a position from the values that the agent has named.
    public init(feed: Int64, generation: Int64) {
        self.feed = feed
        self.generation = generation
    }
}

/// A change of an account or of the agent's store. It is durable, or written later if the disk has failed (`unwritable`).
///
/// Several changes of one account may be one event. An event has no token.
public struct AgentEvent: Sendable, Equatable {
    /// The kinds of changes.
    @nonexhaustive public enum Kind: Int32, Sendable, CaseIterable {
        /// Anything may have changed: read what you need again, such as the list of accounts. Comes first, after a restart of the agent,
        /// when the store has been opened, after an import or another change that may concern every account, or more than the agent
        /// compares, and if the app was too slow to get each event, or away.
        case resynchronise = 1
        /// The account is listed; perhaps it was before.
        case accountAdded = 2
        /// The username or a tenant profile of the account has changed, or without a `clientID` the apps that it is signed in to.
        case accountChanged = 3
        /// The account is not listed any more.
        case accountRemoved = 4
        /// The app `clientID` has signed out of the account.
        case signedOut = 5
        /// The identity provider refuses the refresh tokens of the account for the app `clientID`: the user has to sign in.
        case interactionDue = 6
        /// The store has another state: `storeState`.
        case storeChanged = 7

        /// The name in JSON output.
        public var name: String { "\(self)" }
    }

    /// The state of the agent's store.
    @nonexhaustive public enum StoreState: Int32, Sendable, CaseIterable {
        /// Requests are answered, and changes are written.
        case open = 1
        /// The user has locked the store.
        case locked = 2
        /// The store cannot be read, for example because its key is missing.
        case unavailable = 3
        /// Changes cannot be written to the disk at the moment.
        case unwritable = 4

        /// The name in JSON output.
        public var name: String { "\(self)" }
    }

    /// The kind of the change.
    public var kind: Kind
    /// The position after this event, for `WatchEvents.position`.
    public var position: EventPosition
    /// The time of the change, in seconds since 1970.
    public var time: Int64
    /// The account, without its tenant profiles; nil if the event concerns none.
    public var account: Account?
    /// The app that has signed out, or whose user has to sign in; nil for other events.
    public var clientID: ClientID?
    /// The state of the store; nil unless that has changed.
    public var storeState: StoreState?

    /// Creates an event.
    public init(
        _ kind: Kind, position: EventPosition, time: Int64, account: Account? = nil, clientID: ClientID? = nil,
        storeState: StoreState? = nil
    ) {
        self.kind = kind
        self.position = position
        self.time = time
        self.account = account
        self.clientID = clientID
        self.storeState = storeState
    }
}
