internal import AgentClient
internal import CompatSupport
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The results of calls without an agent.
@Suite(.bounded) struct MSALApplicationTests {
    static func application() throws -> MSALPublicClientApplication {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())/agent.sock").path
        return try MSALPublicClientApplication(
            configuration: MSALPublicClientApplicationConfig(clientId: "client-1"),
            client: AgentClient(socketPath: path))
    }

    static func silent() -> MSALSilentTokenParameters {
        MSALSilentTokenParameters(scopes: ["User.Read"], account: MSALAccount(Sample.account()))
    }

    @Test func reportsAMissingAgentAsTheUnderlyingError() async throws {
        let application = try Self.application()
        let parameters = Self.silent()
        parameters.correlationId = UUID()
        do {
            try await application.acquireTokenSilent(with: parameters)
            Issue.record("there is no agent")
        } catch {
            let error = error as NSError
            #expect(error.domain == MSALErrorDomain)
            #expect(error.code == MSALError.internal.rawValue)
            #expect(error.internalCode == -42008)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? TokenError)?.code == .agentUnavailable)
            #expect(error.userInfo[MSALCorrelationIDKey] as? String == parameters.correlationId?.uuidString)
        }
        #expect(Sample.failure { _ = try application.allAccounts() }?.internalCode == -42008)
        #expect(Sample.failure { try application.remove(MSALAccount(Sample.account())) }?.internalCode == -42008)
    }

    @Test func findsNoAccountByABlankName() throws {
        let application = try Self.application()
        #expect(Sample.failure { _ = try application.account(forUsername: " ") }?.domain == "MSIDErrorDomain")
        #expect(Sample.failure { _ = try application.account(forUsername: "") }?.code == -51111)
        let miss = Sample.failure { _ = try application.account(forIdentifier: " ") }
        #expect(miss?.domain == "Foundation._GenericObjCError")
        #expect(miss?.code == 0)
        #expect(try application.accounts(for: MSALAccountEnumerationParameters(identifier: "")).isEmpty)
    }

    @Test func callsTheBlockOnTheQueueOfTheParameters() async throws {
        let application = try Self.application()
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "asked for")
        queue.setSpecific(key: key, value: "asked for")
        let parameters = Self.silent()
        parameters.completionBlockQueue = queue
        let (result, error, label) = await withCheckedContinuation { continuation in
            application.acquireTokenSilent(with: parameters) { result, error in
                continuation.resume(returning: (result, error, DispatchQueue.getSpecific(key: key)))
            }
        }
        #expect(result == nil)
        #expect((error as NSError?)?.internalCode == -42008)
        #expect(label == "asked for")
    }

    @Test func reportsRefusalsToTheBlock() async throws {
        let application = try Self.application()
        let parameters = Self.silent()
        parameters.account = nil
        let error = await withCheckedContinuation { continuation in
            application.acquireTokenSilent(with: parameters) { continuation.resume(returning: $1) }
        }
        #expect((error as NSError?)?.code == MSALError.interactionRequired.rawValue)
    }

    /// Neither the client's own time limit ends a request before, nor does a limit that no time is.
    @Test func hasTheTimeLimitOfTheApp() {
        #expect(TimeLimit(seconds: 300).duration == .seconds(300))
        #expect(TimeLimit(seconds: 0.5).duration == .milliseconds(500))
        for seconds in [-1, -Double.infinity, .nan] { #expect(TimeLimit(seconds: seconds).duration == .zero) }
        for seconds in [Double.infinity, .greatestFiniteMagnitude] {
            #expect(TimeLimit(seconds: seconds).duration == .seconds(86_400))
        }
    }

    @Test func listsExternalAccountsWithThoseOfTheAgent() {
        let provider = ExternalProvider()
        let accounts = ExternalAccounts([provider])
        let known = MSALAccount(Sample.account())
        let all = accounts.merged([known], filter: AccountFilter())
        #expect(all.map(\.username) == ["Anna@Contoso.com", "carl@contoso.com"])
        #expect(Sample.failure { try accounts.remove(known, wipeAccount: true) }?.domain == "provider")
    }

    /// It would list all of its accounts for a filter that names nobody.
    @Test func asksNoExternalProviderForABlankIdentifier() throws {
        let config = MSALPublicClientApplicationConfig(clientId: "client-1")
        config.cacheConfig.addExternalAccountProvider(ExternalProvider())
        let application = try MSALPublicClientApplication(
            configuration: config, client: AgentClient(socketPath: "/nonexistent/agent.sock"))
        #expect(try application.accounts(for: MSALAccountEnumerationParameters(identifier: " ")).isEmpty)
        let miss = Sample.failure { _ = try application.account(forIdentifier: "") }
        #expect(miss?.domain == "Foundation._GenericObjCError")
    }

    /// One that fails does not keep the account in another.
    @Test func notifiesEachProviderOfARemovalAndReportsTheFirstError() {
        let (first, second) = (ExternalProvider(name: "first"), ExternalProvider(name: "second"))
        let accounts = ExternalAccounts([first, second])
        let error = Sample.failure { try accounts.remove(MSALAccount(Sample.account()), wipeAccount: false) }
        #expect(error?.domain == "first")
        #expect(second.removals == 1)
    }

    /// As every error of the original, also for a provider that throws an error of Swift.
    @Test func reportsTheErrorOfAProviderAsAnNSError() {
        let accounts = ExternalAccounts([ExternalProvider(failure: ProviderFailure.locked), ExternalProvider()])
        let error = #expect(throws: NSError.self) {
            try accounts.remove(MSALAccount(Sample.account()), wipeAccount: false)
        }
        #expect(error?.domain.hasSuffix("ProviderFailure") == true)
    }

    @Test func logsWithoutSecretsAtTheLevelAskedFor() async {
        let lines = Mutex<[String]>([])
        let logger = MSALLoggerConfig()
        logger.setLogCallback { level, message, hasPII in
            lines.withLock { $0.append("\(level.rawValue) \(message ?? "") \(hasPII)") }
        }
        logger.setLogCallback { _, _, _ in Issue.record("the second callback") }
        logger.log(.verbose, "too detailed")
        for number in 1...3 { logger.log(.error, "failed \(number)") }
        await LogQueue.drain()
        #expect(lines.withLock { $0 } == ["1 failed 1 false", "1 failed 2 false", "1 failed 3 false"])
    }

    // Mirrors: MSIDLogger, whose callback may wait for the thread that makes the request
    @Test func doesNotLetARequestWaitForTheLogCallback() async {
        let mayContinue = DispatchSemaphore(value: 0)
        let hasEnded = Mutex(false)
        let logger = MSALLoggerConfig()
        logger.setLogCallback { _, _, _ in
            mayContinue.wait()
            hasEnded.withLock { $0 = true }
        }
        logger.log(.error, "failed")
        #expect(!hasEnded.withLock { $0 })
        mayContinue.signal()
        await LogQueue.drain()
        #expect(hasEnded.withLock { $0 })
    }
}

/// An error of a provider that is written in Swift.
private enum ProviderFailure: Error { case locked }

/// A provider with the account of Anna, which the agent has too, and that of Carl. It fails to remove one.
private final class ExternalProvider: NSObject, MSALExternalAccountProviding {
    private let failure: any Error
    private(set) var removals = 0

    init(name: String = "provider") { failure = NSError(domain: name, code: 1) }
    init(failure: any Error) { self.failure = failure }

    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}

    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws {
        removals += 1
        throw failure
    }

    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] {
        [
            MSALAccount(Sample.account(home: nil, username: "ANNA@contoso.com")),
            MSALAccount(Sample.account(home: "c.t", username: "carl@contoso.com")),
        ]
    }
}
