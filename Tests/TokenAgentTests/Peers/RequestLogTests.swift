internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import TokenAgent

/// Which replies the agent's log has at its usual level.
@Suite(.bounded) struct RequestLogTests {
    private let messages = LogCollector.Messages()
    private let limit: MessageLimit
    private let log: RequestLog

    init() {
        let clock = TestClock()
        limit = MessageLimit(logger: messages.logger(), now: { clock.now })
        log = RequestLog(logger: messages.logger(), processID: 7)
    }

    private func reply<Request: WireRequest>(to request: Request, _ outcome: Result<Request.Reply, TokenError>) {
        log.ended(request, id: 1, outcome, limitedBy: limit)
    }

    private var logged: [String] { messages.all }

    private static let result = TokenResult(
        accessToken: Secret("secret-1"), tokenType: "Bearer", expiresOn: 0, scopes: ["User.Read"], idToken: "secret-2",
        account: Account(
            homeAccountID: nil, username: "alice@contoso.com", environment: "login.example", source: .msal),
        tenantProfile: nil, authority: "https://login.example/common", correlationID: CorrelationID(),
        isFromCache: false)

    @Test func namesSignInsSignOutsAndGrantsWithoutUsersAndTokens() throws {
        let alice = AccountReference(username: "alice@contoso.com")
        reply(to: CompleteInteractive(sessionID: "secret-3"), .success(Self.result))
        reply(to: CompleteDeviceCode(sessionID: "secret-4"), .success(Self.result))
        reply(
            to: RedeemGrant(
                parameters: .sample(), kind: .refreshToken, grant: Secret("secret-5"), account: alice),
            .success(Self.result))
        reply(to: RemoveAccount(clientID: .sample, account: alice), .success(RemoveAccount.Reply(removed: true)))
        for (message, request) in zip(
            logged, ["complete_interactive", "complete_device_code", "redeem_grant", "remove_account"])
        {
            #expect(message.hasPrefix("notice ended"), "\(message)")
            #expect(message.contains(request) && message.contains("7"), "\(message)")
        }
        #expect(logged.count == 4)
        #expect(logged.suffix(2).allSatisfy { $0.contains("\"client_id\": app") }, "\(logged)")
        for message in logged { #expect(!message.contains("secret") && !message.contains("alice"), "\(message)") }
    }

    /// A request for tokens, a sign-out of nobody, a sign-in that does not exist, and a lock of a locked store are no security events.
    @Test func leavesOutWhatChangesNothing() {
        reply(to: AcquireTokenSilent.sample("alice"), .success(Self.result))
        reply(to: AcquireTokenSilent.sample("alice"), .failure(TokenError(.networkUnavailable, "no route")))
        reply(to: CompleteInteractive(sessionID: "session"), .failure(SignInSessions.unknown.forApps))
        reply(
            to: RemoveAccount(clientID: .sample, account: AccountReference()),
            .success(RemoveAccount.Reply(removed: false)))
        var status = KeyStatus(source: .file, place: "cache.key", isOpen: true)
        status.isUnchanged = true
        reply(to: Unlock(), .success(status))
        reply(to: Lock(), .success(status))
        reply(to: Unlock(passphrase: Secret("wrong")), .failure(TokenError(.requestDenied, "has its own message")))
        #expect(logged.isEmpty, "\(logged)")
    }

    /// The request that completes a sign-in names neither.
    @Test func namesTheAppAndTheCorrelationIDOfASignIn() {
        let begun = TokenParameters.sample()
        let failure = TokenError(.accessDenied, "the sign-in was declined")
        for outcome in [.success(Self.result), .failure(failure)] as [Result<TokenResult, TokenError>] {
            log.ended(
                CompleteInteractive(sessionID: "secret-1"), id: 1, outcome, of: RequestLog.SignIn(of: begun),
                limitedBy: limit)
        }
        #expect(logged.count == 2)
        for message in logged {
            #expect(message.contains("\"client_id\": app") && message.contains("\(begun.correlationID)"), "\(message)")
        }
    }

    /// The policy has not refused it, so that no other message says so.
    @Test func namesAChangeOfTheKeyWithAWrongPassphrase() {
        reply(
            to: SetKey(source: .file, currentPassphrase: Secret("secret-1")),
            .failure(TokenError(.requestDenied, "this is not the passphrase", reason: .request)))
        #expect(logged.count == 1 && logged.first?.contains("requestDenied") == true, "\(logged)")
    }

    /// An administrator reports it with the log.
    @Test func hasAnErrorOfTheAgentInAnyRequest() throws {
        let request = AcquireTokenSilent.sample("alice")
        reply(to: request, .failure(TokenError(.internalError, "a defect that names alice")))
        let message = try #require(logged.first)
        #expect(message.hasPrefix("error ended") && !message.contains("alice"), "\(message)")
        #expect(message.contains("\(request.parameters.correlationID)"), "\(message)")
    }

    /// A transfer has many parts, and one message.
    @Test func namesTheFirstPartOfAnExport() {
        for id in [nil, "next", "last"] {
            let part = ExportCache(format: .msalJSON, includesSecrets: true, exportID: id)
            reply(to: part, .success(ExportCache.Reply(data: Secret("secret"))))
        }
        #expect(logged.count == 1 && logged.first?.contains("export_cache") == true, "\(logged)")
    }

    @Test func namesTheLastPartOfAnImport() {
        for isLast in [false, false, true] {
            let part = ImportCache(format: .msalJSON, importID: "import", data: Secret("secret"), isLast: isLast)
            reply(to: part, .success(ImportCache.Reply(importID: "import")))
        }
        #expect(logged.count == 1 && logged.first?.contains("import_cache") == true, "\(logged)")
    }

    @Test func namesAChangeOfTheKeyAlsoIfItFails() {
        let status = KeyStatus(source: .file, place: "cache.key", isOpen: true)
        let request = SetKey(source: .passphrase, passphrase: Secret("secret-1"))
        reply(to: request, .success(status))
        reply(to: request, .failure(TokenError(.storeUnavailable, "the disk is full")))
        #expect(logged.count == 2)
        for message in logged { #expect(message.contains("set_key") && !message.contains("secret"), "\(message)") }
        #expect(logged.last?.contains("storeUnavailable") == true)
    }

    /// An app that repeats a request that fails must not fill the disk.
    @Test func limitsTheMessagesAboutFailures() {
        for _ in 0..<1000 {
            reply(to: CompleteInteractive(sessionID: "session"), .failure(TokenError(.timedOut, "too late")))
        }
        #expect(logged.count == MessageLimit.messages)
        #expect(logged.first?.contains("timedOut") == true)
        reply(to: CompleteInteractive(sessionID: "session"), .success(Self.result))
        #expect(logged.count == MessageLimit.messages + 1, "what has happened is always in the log")
    }
}
