internal import AccessPolicy
internal import TestSupport
internal import Testing
internal import TokenModel

/// The peers that are served, and the decisions of the built-in policy.
@Suite(.bounded) struct PeerPolicyTests {
    @Test(arguments: [(1000, 1000, true), (1000, 1001, false), (1000, 0, false), (0, 0, true), (0, 1000, false)])
    func admitsTheAgentsOwnUserAndNobodyElse(_ own: UInt32, _ peer: UInt32, _ isAdmitted: Bool) {
        #expect(PeerPolicy(userID: own).admits(userID: peer) == isAdmitted)
    }

    @Test(arguments: PolicySamples.requests)
    func confirmsExportsKeyChangesAndPublicationsOfUnconfinedProcesses(request: PolicyRequest) {
        let needsPerson =
            ["export_cache", "set_key", "publish_socket"].contains(request.name) && !request.subject.isContinuation
        for peer in [PolicySamples.installed, PolicySamples.other] {
            let decision = PeerPolicy(userID: 1000).decision(on: request, from: peer)
            #expect(decision == (needsPerson ? .confirm : .allow), "\(request.name)")
        }
    }

    @Test(arguments: PolicySamples.requests)
    func allowsSandboxedAppsNothingThatNamesAnAppOrReachesOne(request: PolicyRequest) {
        let isHarmless = request.subject.clientID == nil && request.subject.isLimitedToApp
        for peer in [PolicySamples.notes, PolicySamples.unknownSandbox] {
            let decision = PeerPolicy(userID: 1000).decision(on: request, from: peer)
            if isHarmless {
                #expect(decision == .allow, "\(request.name)")
            } else if case .deny(let reason) = decision {
                #expect(reason.contains("[[rule]]"))
            } else {
                Issue.record("\(request.name) is not denied: \(decision)")
            }
        }
    }

    @Test func allowsASandboxedAppWhatARuleSaysIsItsOwn() {
        let rule = PolicyRule(
            app: "flatpak:org.contoso.Notes", clientIDs: PolicySamples.clients("notes"),
            requests: .named([], includesOwn: true), effect: .allow)
        let policy = PeerPolicy(userID: 1000, rules: [rule])
        for request in PolicySamples.requests {
            let isOwn =
                request.subject.isLimitedToApp && request.name != "redeem_grant"
                && request.subject.clientID.map { $0.text == "notes" } ?? true
            let decision = policy.decision(on: request, from: PolicySamples.notes)
            #expect((decision == .allow) == isOwn, "\(request.name) \(decision)")
            let other = policy.decision(on: request, from: PolicySamples.unknownSandbox)
            #expect(other != .allow || request.subject.clientID == nil, "\(request.name)")
        }
    }

    /// The rule that the message names may be there.
    @Test func saysThatASandboxedAppHasToNameItself() {
        let rule = PolicyRule(
            app: "flatpak:org.contoso.Notes", clientIDs: PolicySamples.clients("notes"),
            requests: .named([], includesOwn: true), effect: .allow)
        let policy = PeerPolicy(userID: 1000, rules: [rule])
        let request = PolicySamples.request("list_accounts", ListAccounts(clientID: nil))
        guard case .deny(let reason) = policy.decision(on: request, from: PolicySamples.notes) else {
            Issue.record("a list of all apps is not denied")
            return
        }
        #expect(reason.contains("list_accounts of all apps"))
        #expect(reason.contains("which the request has to name"))
    }

    @Test func decidesByTheFirstRuleThatCoversTheRequest() {
        let rules = [
            PolicyRule(unit: "backup.service", requests: .named(["export_cache"], includesOwn: false), effect: .allow),
            PolicyRule(requests: .named(["export_cache"], includesOwn: false), effect: .deny),
        ]
        let policy = PeerPolicy(userID: 1000, rules: rules)
        var backup = PolicySamples.other
        backup.unit = "backup.service"
        #expect(policy.decision(on: PolicySamples.export, from: backup) == .allow)
        guard case .deny = policy.decision(on: PolicySamples.export, from: PolicySamples.other) else {
            Issue.record("the second rule does not decide")
            return
        }
    }

    /// A sandbox that has the program's file can start it with any code in it.
    @Test func opensNothingToASandboxByTheNameOfAProgram() {
        let allow = PolicyRule(executable: "/usr/bin/notes", requests: .all, effect: .allow)
        var sandboxed = PolicySamples.unknownSandbox
        sandboxed.executable = PolicySamples.installed.executable
        let policy = PeerPolicy(userID: 1000, rules: [allow])
        let builtIn = PeerPolicy(userID: 1000)
        for request in PolicySamples.requests {
            #expect(policy.decision(on: request, from: PolicySamples.installed) == .allow, "\(request.name)")
            let decision = policy.decision(on: request, from: sandboxed)
            #expect(decision == builtIn.decision(on: request, from: sandboxed), "\(request.name)")
        }
        var named = allow
        named.peerClass = .sandboxed
        let naming = PeerPolicy(userID: 1000, rules: [named])
        #expect(naming.decision(on: PolicySamples.export, from: sandboxed) == .allow)
        var denying = allow
        denying.effect = .deny
        let everything = PolicyRule(requests: .all, effect: .allow)
        let restricting = PeerPolicy(userID: 1000, rules: [denying, everything])
        guard case .deny = restricting.decision(on: PolicySamples.export, from: sandboxed) else {
            Issue.record("the rule does not restrict the sandbox")
            return
        }
    }

    /// Who lets scripts export without a confirmation does not let sandboxes export.
    @Test(arguments: PolicySamples.requests)
    func opensNothingToASandboxByARuleThatNeedsNoConfirmation(request: PolicyRequest) {
        let allow = PolicyRule(requests: .all, effect: .allow)
        var naming = [allow, allow]
        naming[0].peerClass = .sandboxed
        naming[1].app = "flatpak:org.contoso.Notes"
        let needsPerson = ["export_cache", "set_key", "publish_socket"].contains(request.name)
        let decision = PeerPolicy(userID: 1000, rules: [allow]).decision(on: request, from: PolicySamples.notes)
        #expect((decision == .allow) == !needsPerson, "\(request.name)")
        #expect(decision != .confirm, "\(request.name)")
        for rule in naming {
            let named = PeerPolicy(userID: 1000, rules: [rule]).decision(on: request, from: PolicySamples.notes)
            #expect(named == .allow, "\(request.name)")
        }
    }

    @Test(arguments: PolicySamples.requests)
    func opensNothingToASandboxByARuleThatRequiresAConfirmation(request: PolicyRequest) {
        let confirm = PolicyRule(requests: .all, effect: .confirm)
        var naming = confirm
        naming.peerClass = .sandboxed
        let everything = PolicyRule(peerClass: .sandboxed, requests: .all, effect: .allow)
        let sandbox = PolicySamples.unknownSandbox
        let builtIn = PeerPolicy(userID: 1000).decision(on: request, from: sandbox)
        let isOfEarlierRequest = request.subject.isContinuation || request.subject.signIn != nil
        let asked: PeerPolicy.Decision = isOfEarlierRequest ? .allow : .confirm
        let decision = PeerPolicy(userID: 1000, rules: [confirm]).decision(on: request, from: sandbox)
        #expect(decision == (builtIn == .allow ? asked : builtIn), "\(request.name)")
        for rules in [[naming], [confirm, everything]] {
            #expect(PeerPolicy(userID: 1000, rules: rules).decision(on: request, from: sandbox) == asked)
        }
        for peer in [PolicySamples.installed, PolicySamples.other] {
            #expect(PeerPolicy(userID: 1000, rules: [confirm]).decision(on: request, from: peer) == asked)
        }
    }

    /// The message is for people, and in the log.
    @Test func namesNoClientIDThatATerminalObeys() {
        let subject = RequestSubject(clientID: ClientID("a\u{1B}[2J\nb\u{202E}"), isLimitedToApp: true)
        let request = PolicyRequest(name: "acquire_token_silent", subject: subject)
        guard case .deny(let reason) = PeerPolicy(userID: 1000).decision(on: request, from: PolicySamples.notes) else {
            Issue.record("the request is not denied")
            return
        }
        #expect(reason.contains("client_ids"))
        #expect(reason.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
    }

    @Test(arguments: ["a\nb", "\u{1B}[31m", "\u{202E}x"])
    func describesAPeerWithoutCharactersThatATerminalObeys(name: String) {
        let file = PeerIdentity.Executable(path: "/tmp/\(name)", isInstalled: false, isAtPath: false)
        let text = PeerIdentity(userID: 0, processID: 7, executable: file).description
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E })
        #expect(text.contains("process 7"))
    }
}
