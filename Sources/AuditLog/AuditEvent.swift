/// What the audit log says about one event. It never has a token, and a username only if the configuration asks for names.
package struct AuditEvent: Sendable, Hashable {
    /// The kinds of events. The names are in the log.
    package enum Kind: String, Sendable, CaseIterable {
        case agentStarted = "start"
        case agentStopped = "stop"
        /// Tokens were given to an app.
        case token
        /// ID tokens were given to an app with its accounts, and no access token.
        case idToken = "id_token"
        case signInBegun = "sign_in_begun"
        case signIn = "sign_in"
        case signOut = "sign_out"
        case importCache = "import"
        case exportCache = "export"
        case keyChange = "key"
        case unlock
        case lock
        case publish
        case unpublish
        /// The configuration was read again.
        case reload
        /// The time of a published socket was over.
        case socketExpired = "expire"
        /// The access policy, or a person, has refused a request.
        case refusal
        /// Failed requests of one peer have no lines, since there were too many of them in a minute.
        case omitted
        /// Events were lost, since they could not be written or were too many.
        case lost
    }

    /// The peer of a request.
    package struct Peer: Sendable, Hashable {
        package var userID: UInt32
        package var processID: Int32?
        package var peerClass: String
        package var executable: String?
        package var unit: String?
        package var app: String?

        package init(
            userID: UInt32, processID: Int32?, peerClass: String, executable: String? = nil, unit: String? = nil,
            app: String? = nil
        ) {
            self.userID = userID
            self.processID = processID
            self.peerClass = peerClass
            self.executable = executable
            self.unit = unit
            self.app = app
        }
    }

    /// The outcome of an event without an error.
    package static let success = "ok"

    package var kind: Kind
    /// The time, in seconds since 1970.
    package var time: Int64
    package var peer: Peer?
    /// The label of the published socket; nil for the agent's own socket.
    package var socket: String?
    /// The name of the request in PROTOCOL.md.
    package var request: String?
    package var clientID: String?
    package var sharingGroup: String?
    /// The account's identifier, or its username if it has none. The log has its hash.
    package var account: String?
    /// The username; nil unless the configuration asks for names.
    package var username: String?
    package var scopes: [String]
    /// ``success``, or the name of the error; `omitted` and `lost` for events of these kinds.
    package var outcome: String
    /// The number of tokens, of equal events in this line, or of omitted or lost events; nil for one.
    package var count: Int?

    package init(
        _ kind: Kind, time: Int64, peer: Peer? = nil, socket: String? = nil, request: String? = nil,
        clientID: String? = nil,
        sharingGroup: String? = nil, account: String? = nil, username: String? = nil, scopes: [String] = [],
        outcome: String = AuditEvent.success, count: Int? = nil
    ) {
        self.kind = kind
        self.time = time
        self.peer = peer
        self.socket = socket
        self.request = request
        self.clientID = clientID
        self.sharingGroup = sharingGroup
        self.account = account
        self.username = username
        self.scopes = scopes
        self.outcome = outcome
        self.count = count
    }
}
