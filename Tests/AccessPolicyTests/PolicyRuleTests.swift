internal import AccessPolicy
internal import TestSupport
internal import Testing
internal import TokenModel

/// The conditions of a rule.
@Suite(.bounded) struct PolicyRuleTests {
    /// The tests below are about every request of the protocol.
    @Test func hasSamplesOfEveryRequest() {
        #expect(Set(PolicySamples.requests.map(\.name)) == RequestKinds.all)
    }

    /// A request that lists everything must be no way around a rule about one app.
    @Test func deniesAnAppAlsoToRequestsThatReachEveryApp() {
        let rule = PolicyRule(clientIDs: PolicySamples.clients("mail"), requests: .all, effect: .deny)
        for request in PolicySamples.requests {
            let reachesMail = request.subject.clientID?.text == "mail" || !request.subject.isLimitedToApp
            #expect(isDenied(request, by: rule) == reachesMail, "\(request.name) \(request.subject)")
        }
    }

    @Test func allowsAnAppOnlyRequestsThatReachNothingElse() {
        let rules = [
            PolicyRule(clientIDs: PolicySamples.clients("mail"), requests: .all, effect: .allow),
            PolicyRule(requests: .all, effect: .deny),
        ]
        for request in PolicySamples.requests {
            let isOfMail = request.subject.clientID?.text == "mail" && request.subject.isLimitedToApp
            #expect(isAllowed(request, by: rules) == isOfMail, "\(request.name) \(request.subject)")
        }
    }

    /// The request itself does not name the app, which the agent knows.
    @Test(arguments: ["complete_interactive", "complete_device_code", "cancel_interaction"])
    func decidesAboutTheRestOfASignInByItsApp(name: String) {
        let subject = RequestSubject(clientID: ClientID("mail"), isLimitedToApp: true, signIn: "s")
        let request = PolicyRequest(name: name, subject: subject)
        let own = PolicyRule.Requests.named([], includesOwn: true)
        for (app, isOfApp) in [("mail", true), ("notes", false)] {
            let denied = PolicyRule(clientIDs: PolicySamples.clients(app), requests: own, effect: .deny)
            #expect(isDenied(request, by: denied) == isOfApp)
            let allowed = [
                PolicyRule(clientIDs: PolicySamples.clients(app), requests: own, effect: .allow),
                PolicyRule(requests: .all, effect: .deny),
            ]
            #expect(isAllowed(request, by: allowed) == isOfApp)
        }
        // The person was asked when the sign-in began.
        let confirmed = PolicyRule(requests: .all, effect: .confirm)
        #expect(isAllowed(request, by: [confirmed]))
        // A sandboxed app that knows the sign-in needs no rule, and a confirmation opens nothing to it that another rule denies.
        #expect(PeerPolicy(userID: 0).decision(on: request, from: PolicySamples.notes) == .allow)
        let denied = PolicyRule(peerClass: .sandboxed, requests: .all, effect: .deny)
        let decision = PeerPolicy(userID: 0, rules: [confirmed, denied]).decision(
            on: request, from: PolicySamples.notes)
        #expect(isDenial(decision))
    }

    /// It was finished or cancelled meanwhile, and the agent does not know it any more.
    @Test func asksNobodyAboutASignInThatHasEnded() {
        let request = PolicySamples.request("cancel_interaction", CancelInteraction(sessionID: "s"))
        #expect(isAllowed(request, by: [PolicyRule(requests: .all, effect: .confirm)]))
    }

    @Test func limitsSharingGroups() throws {
        let group = try #require(SharingGroup("team"))
        let allowed = [
            PolicyRule(sharingGroups: [group], requests: .all, effect: .allow),
            PolicyRule(requests: .all, effect: .deny),
        ]
        let denied = PolicyRule(sharingGroups: [group], requests: .all, effect: .deny)
        let own = PolicySamples.request("list_credentials", ListCredentials(sharingGroup: group))
        let other = PolicySamples.request("list_credentials", ListCredentials())
        let key = PolicySamples.request("set_key", SetKey(source: .file))
        let hello = PolicySamples.request("hello", Hello(appName: "x"))
        #expect([own, other, key, hello].map { isAllowed($0, by: allowed) } == [true, false, false, false])
        #expect([own, other, key, hello].map { isDenied($0, by: denied) } == [true, false, true, false])
    }

    @Test func comparesClientIDsRegardlessOfCase() {
        let allow = PolicyRule(clientIDs: PolicySamples.clients("MAIL"), requests: .all, effect: .allow)
        var deny = allow
        deny.effect = .deny
        // A rule that denies covers the other requests whatever its client IDs are.
        let own = PolicySamples.requests.filter { $0.subject.clientID?.text == "mail" && $0.subject.isLimitedToApp }
        #expect(!own.isEmpty)
        for request in own {
            #expect(isDenied(request, by: deny), "\(request.name)")
            let rules = [allow, PolicyRule(requests: .all, effect: .deny)]
            #expect(isAllowed(request, by: rules), "\(request.name)")
        }
    }

    /// Another file can be mounted at the path that a process sees.
    @Test(arguments: [true, false])
    func matchesAProgramOnlyIfTheAgentSeesTheSameFile(isAtPath: Bool) {
        let rule = PolicyRule(executable: "/usr/bin/notes", requests: .all, effect: .deny)
        var peer = PolicySamples.installed
        peer.executable?.isAtPath = isAtPath
        #expect(isDenied(PolicySamples.export, by: rule, from: peer) == isAtPath)
        peer.executable = nil
        #expect(!isDenied(PolicySamples.export, by: rule, from: peer))
    }

    /// The file system compares bytes: an accent of its own makes another path.
    @Test func tellsProgramsApartWhosePathsAreSpelledOtherwise() {
        let paths = ["/opt/caf\u{E9}", "/opt/cafe\u{301}"]
        let rules = paths.map { PolicyRule(executable: $0, requests: .all, effect: .deny) }
        #expect(PeerPolicy(userID: 0, rules: rules).executables.count == 2)
        for (index, path) in paths.enumerated() {
            var peer = PolicySamples.installed
            peer.executable?.path = path
            #expect(isDenied(PolicySamples.export, by: rules[index], from: peer))
            #expect(!isDenied(PolicySamples.export, by: rules[1 - index], from: peer))
        }
    }

    @Test func requiresEveryCondition() {
        let rule = PolicyRule(
            peerClass: .sandboxed, app: "flatpak:org.contoso.Notes", requests: .all, effect: .deny)
        let policy = PeerPolicy(userID: 0, rules: [rule])
        #expect(policy.decision(on: PolicySamples.export, from: PolicySamples.notes) == denial(by: rule))
        for peer in [PolicySamples.unknownSandbox, PolicySamples.installed, PolicySamples.other] {
            #expect(policy.decision(on: PolicySamples.export, from: peer) != denial(by: rule))
        }
    }

    private func denial(by rule: PolicyRule) -> PeerPolicy.Decision {
        PeerPolicy(userID: 0, rules: [rule]).decision(on: PolicySamples.export, from: PolicySamples.notes)
    }

    private func isDenied(
        _ request: PolicyRequest, by rule: PolicyRule, from peer: PeerIdentity = PolicySamples.installed
    ) -> Bool {
        isDenial(PeerPolicy(userID: 0, rules: [rule]).decision(on: request, from: peer))
    }

    private func isDenial(_ decision: PeerPolicy.Decision) -> Bool {
        if case .deny = decision { true } else { false }
    }

    private func isAllowed(_ request: PolicyRequest, by rules: [PolicyRule]) -> Bool {
        PeerPolicy(userID: 0, rules: rules).decision(on: request, from: PolicySamples.installed) == .allow
    }
}
