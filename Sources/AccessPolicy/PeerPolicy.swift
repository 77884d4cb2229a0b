package import TokenModel

/// Decides which peers the agent serves, and which requests of theirs: a pure function of the identity and the request.
package struct PeerPolicy: Sendable, Equatable {
    /// The ID of the user that the agent belongs to.
    package var userID: UInt32
    /// The rules of the configuration. The first one that covers a request decides; without one, the built-in policy does.
    package var rules: [PolicyRule]

    package init(userID: UInt32, rules: [PolicyRule] = []) {
        self.userID = userID
        self.rules = rules
    }

    /// A decision about a request.
    package enum Decision: Sendable, Equatable {
        case allow
        /// The request is refused, with this message for the app.
        case deny(String)
        /// A person has to allow the request.
        case confirm
    }

    /// Whether a user is served: only the agent's own is, not even root.
    package func admits(userID: UInt32) -> Bool { userID == self.userID }

    /// The paths of programs in the rules.
    package var executables: Set<ExactText> { Set(rules.compactMap(\.executable)) }

    /// Decides about a request before it is answered.
    ///
    /// Only the first part of an import or export is confirmed: the later ones belong to the connection that began it. A sign-in is
    /// confirmed when it begins, and not again.
    package func decision(on request: PolicyRequest, from peer: PeerIdentity) -> Decision {
        let decision = Self.ruling(on: request, from: peer, by: rules[...])
        let isOfEarlierRequest = request.subject.isContinuation || request.subject.signIn != nil
        return decision == .confirm && isOfEarlierRequest ? .allow : decision
    }

    /// The refusal of a request that arrives at a published socket; nil if no rule of the configuration refuses it. What the socket
    /// serves is decided by its own rules (``SocketRules``).
    ///
    /// A rule that requires a confirmation refuses: who publishes a socket has confirmed what it serves, and its peers may not have
    /// questions asked.
    package func refusal(ofPublished request: PolicyRequest, from peer: PeerIdentity) -> String? {
        guard let rule = rules.first(where: { $0.covers(request, from: peer) }), rule.effect != .allow else {
            return nil
        }
        return "a rule of the agent's configuration refuses \(request.name) from \(peer.description)"
    }

    /// The decision of the first rule that covers the request, or else of the built-in policy.
    ///
    /// A rule that requires a confirmation gives a sandboxed app nothing that it would not get without the rule, unless the rule names
    /// sandboxed apps: who has imports confirmed does not open them to sandboxes.
    private static func ruling(
        on request: PolicyRequest, from peer: PeerIdentity, by rules: ArraySlice<PolicyRule>
    ) -> Decision {
        guard let index = rules.firstIndex(where: { $0.covers(request, from: peer) }) else {
            return builtIn(request, peer)
        }
        let rule = rules[index]
        switch rule.effect {
        case .allow: return .allow
        case .confirm:
            guard peer.sandbox != nil, !rule.namesSandbox else { return .confirm }
            let withoutRule = ruling(on: request, from: peer, by: rules[(index + 1)...])
            if case .deny = withoutRule { return withoutRule }
            return .confirm
        case .deny: return .deny("a rule of the agent's configuration refuses \(request.name) from \(peer.description)")
        }
    }

    /// The decision without a rule. A sandboxed app may introduce itself and finish a sign-in that it was allowed to
    /// begin; only a rule can say which client IDs are its own.
    private static func builtIn(_ request: PolicyRequest, _ peer: PeerIdentity) -> Decision {
        guard peer.sandbox != nil else {
            return RequestKinds.confirmed.contains(request.name) ? .confirm : .allow
        }
        if RequestKinds.isOwn(request), request.subject.clientID == nil || request.subject.signIn != nil {
            return .allow
        }
        let app = peer.sandbox?.app.map { "app = \"\($0)\"" } ?? "class = \"sandboxed\""
        let clientID = request.subject.clientID.map { UntrustedText.clean($0.text, limit: 80) } ?? "…"
        // A rule for the app, which may be there already, covers the request only if that names the app.
        let isOfEveryApp = RequestKinds.own.contains(request.name) && !request.subject.isLimitedToApp
        let remedy =
            isOfEveryApp
            ? "a rule can allow it of the app's own client ID, which the request has to name"
            : "to let the app use its own client ID, add"
        return .deny(
            "no rule of the agent's configuration allows \(request.name)\(isOfEveryApp ? " of all apps" : "") from the sandboxed "
                + "\(peer.description); \(remedy): [[rule]] \(app), client_ids = [\"\(clientID)\"], requests = [\"own\"], "
                + "effect = \"allow\"")
    }
}
