package import TokenModel

/// A rule of the access policy: conditions on the peer and the request, and the decision if all of them are met.
package struct PolicyRule: Sendable, Equatable {
    /// The decisions that a rule can make.
    package enum Effect: String, Sendable, CaseIterable {
        case allow, deny
        /// A person has to allow the request each time.
        case confirm
    }

    /// The requests of a rule.
    package enum Requests: Sendable, Equatable {
        case all
        /// Requests with these names, and with `includesOwn` those that an app makes for itself (``RequestKinds/own``).
        case named(Set<String>, includesOwn: Bool)
    }

    /// The class of the peer; nil for every class.
    package var peerClass: PeerClass?
    /// The path of the peer's program, which must be the file that the agent sees there; nil for every program. A rule that allows
    /// matches no sandboxed peer by it, unless it names sandboxed apps as well. Paths are bytes.
    package var executable: ExactText?
    /// The peer's systemd unit; nil for every peer.
    package var unit: String?
    /// The peer's sandboxed app; nil for every peer.
    package var app: String?
    /// The client IDs; nil for every request.
    package var clientIDs: Set<ClientID>?
    /// The sharing groups; nil for every request.
    package var sharingGroups: Set<SharingGroup>?
    package var requests: Requests
    package var effect: Effect

    package init(
        peerClass: PeerClass? = nil, executable: String? = nil, unit: String? = nil, app: String? = nil,
        clientIDs: Set<ClientID>? = nil, sharingGroups: Set<SharingGroup>? = nil, requests: Requests, effect: Effect
    ) {
        self.peerClass = peerClass
        self.executable = executable.map(ExactText.init)
        self.unit = unit
        self.app = app
        self.clientIDs = clientIDs
        self.sharingGroups = sharingGroups
        self.requests = requests
        self.effect = effect
    }

    /// Whether the rule decides about a request of a peer.
    ///
    /// A rule that allows covers only requests that reach nothing beyond its client IDs and sharing groups. A rule that denies or
    /// asks covers every request that could reach one of them, so that a list of everything is no way around it.
    func covers(_ request: PolicyRequest, from peer: PeerIdentity) -> Bool {
        matches(peer) && includes(request) && reaches(request.subject) && mayOpen(request, to: peer)
    }

    /// Whether the rule may give a request to a peer, if it allows.
    ///
    /// A sandboxed app has to be named, by its name or its class, where the rule is otherwise about other processes. It names a program,
    /// which a sandbox that has the system's files can start with any code in it; or it leaves out the confirmation that the user's
    /// processes need without a rule.
    private func mayOpen(_ request: PolicyRequest, to peer: PeerIdentity) -> Bool {
        guard effect == .allow, peer.sandbox != nil, !namesSandbox else { return true }
        return executable == nil && !RequestKinds.confirmed.contains(request.name)
    }

    /// Whether the rule names sandboxed apps: one by its name, or all of them by their class.
    var namesSandbox: Bool { app != nil || peerClass == .sandboxed }

    private func matches(_ peer: PeerIdentity) -> Bool {
        if let peerClass, peer.peerClass != peerClass { return false }
        if let unit, peer.unit != unit { return false }
        if let app, peer.sandbox?.app != app { return false }
        guard let executable else { return true }
        return peer.executable.map { ExactText($0.path) } == executable && peer.executable?.isAtPath == true
    }

    private func includes(_ request: PolicyRequest) -> Bool {
        switch requests {
        case .all: true
        case .named(let names, let includesOwn):
            names.contains(request.name) || (includesOwn && RequestKinds.isOwn(request))
        }
    }

    private func reaches(_ subject: RequestSubject) -> Bool {
        if let clientIDs {
            if effect == .allow {
                guard subject.isLimitedToApp, let app = subject.clientID, clientIDs.contains(app) else { return false }
            } else if subject.isLimitedToApp {
                guard let app = subject.clientID, clientIDs.contains(app) else { return false }
            }
        }
        guard let sharingGroups else { return true }
        guard let group = subject.sharingGroup else { return effect != .allow && !subject.isLimitedToApp }
        return sharingGroups.contains(group)
    }
}

/// A request as the policy sees it.
package struct PolicyRequest: Sendable, Equatable {
    /// The name in PROTOCOL.md, such as `acquire_token_silent`.
    package var name: String
    package var subject: RequestSubject
    /// What a person is asked to confirm; nil if the name says it.
    package var purpose: String?

    package init(name: String, subject: RequestSubject, purpose: String? = nil) {
        self.name = name
        self.subject = subject
        self.purpose = purpose
    }
}

/// The sets of requests that the policy knows.
package enum RequestKinds {
    /// The requests that an app makes for itself: introduction, silent tokens, sign-in, and sign-out, lists
    /// and events of its accounts.
    static let own: Set = [
        "hello", "acquire_token_silent", "begin_interactive", "complete_interactive", "begin_device_code",
        "complete_device_code", "cancel_interaction", "list_accounts", "get_current_account", "remove_account",
        "watch_events",
    ]

    /// The names of all requests of the protocol.
    package static let all: Set = own.union([
        "redeem_grant", "get_status", "diagnose", "list_credentials", "remove_credential", "import_cache",
        "export_cache", "get_key", "set_key", "unlock", "lock", "publish_socket", "list_sockets", "unpublish_socket",
        "reload_configuration",
    ])

    /// Whether the request is one of ``own`` and reaches no other app.
    static func isOwn(_ request: PolicyRequest) -> Bool {
        request.subject.isLimitedToApp && own.contains(request.name)
    }

    /// The requests that, without a rule, need a person's confirmation: they give away every refresh token, decide who can
    /// open the store, or give tokens to others.
    static let confirmed: Set = ["export_cache", "set_key", "publish_socket"]
}
