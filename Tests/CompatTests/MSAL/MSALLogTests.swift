internal import AgentClient
internal import CompatSupport
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import MSALCompat

/// The lines of calls that fail, in the log of the app.
///
/// In processes of their own, since a process has one log callback. There is no agent.
@Suite(.bounded) struct MSALLogTests {
    private static let lines = Mutex<[String]>([])

    /// Creates an application whose errors and warnings are recorded.
    private static func application() throws -> MSALPublicClientApplication {
        MSALGlobalConfig.loggerConfig.logLevel = .warning
        MSALGlobalConfig.loggerConfig.setLogCallback { level, message, _ in
            MSALLogTests.lines.withLock { $0.append("\(level.rawValue) \(message ?? "")") }
        }
        return try MSALPublicClientApplication(
            configuration: MSALPublicClientApplicationConfig(clientId: "client-1"),
            client: AgentClient(socketPath: "/nonexistent/agent.sock"))
    }

    /// Returns the lines since the last call of this function.
    private static func logged() async -> [String] {
        await LogQueue.drain()
        return lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    // Mirrors: M43 MSALPublicClientApplication logOperation, removeAccountImpl, signoutWithAccount: a call that fails is an error in the log
    @Test func logsEachCallThatFailsOnceWithoutPersonalData() async {
        await #expect(processExitsWith: .success) {
            let app = try MSALLogTests.application()
            let account = MSALAccount(Sample.account())
            let interactive = MSALInteractiveTokenParameters(scopes: ["User.Read"], webviewParameters: Sample.webview)
            let calls: [(name: String, call: () async throws -> Void)] = [
                ("accounts", { _ = try app.allAccounts() }),
                (
                    "accounts",
                    { _ = try await app.accountsFromDevice(for: MSALAccountEnumerationParameters(identifier: "u.t")) }
                ),
                ("accounts", { _ = try app.account(forUsername: "anna@contoso.com") }),
                ("getCurrentAccount", { _ = try await app.currentAccount(with: nil) }),
                ("acquireTokenSilent", { _ = try await app.acquireTokenSilent(with: MSALApplicationTests.silent()) }),
                ("acquireToken", { _ = try await app.acquireToken(with: interactive) }),
                ("remove", { try app.remove(account) }),
                ("signout", { _ = try await app.signout(with: account, signoutParameters: MSALSignoutParameters()) }),
            ]
            for (name, call) in calls {
                await #expect(throws: NSError.self) { try await call() }
                let lines = await MSALLogTests.logged()
                #expect(lines.count == 1, "\(name): \(lines)")
                #expect(lines.first?.hasPrefix("1 \(name) failed with agentUnavailable") == true, "\(lines)")
                #expect(lines.first?.lowercased().contains("contoso") == false)
            }
        }
    }

    @Test func logsTheBlockFormsOfCallsThatFail() async {
        await #expect(processExitsWith: .success) {
            let app = try MSALLogTests.application()
            app.accountsFromDevice(for: MSALAccountEnumerationParameters()) { _, _ in }
            app.getCurrentAccount(with: nil) { _, _, _ in }
            let silent = MSALApplicationTests.silent()
            silent.account = nil
            app.acquireTokenSilent(with: silent) { _, _ in }
            let lines = await MSALLogTests.logged()
            #expect(
                lines == [
                    "1 accounts failed with agentUnavailable", "1 getCurrentAccount failed with agentUnavailable",
                    "1 acquireTokenSilent failed with -50002",
                ])
        }
    }

    // Mirrors: M43 as above, of what is refused before the agent is asked
    @Test func logsWhatIsRefusedWithTheCorrelationIDOfTheRequest() async {
        await #expect(processExitsWith: .success) {
            let app = try MSALLogTests.application()
            let silent = MSALApplicationTests.silent()
            silent.scopes = ["openid"]
            let interactive = MSALInteractiveTokenParameters(scopes: ["openid"], webviewParameters: Sample.webview)
            let (one, other) = (UUID(), UUID())
            (silent.correlationId, interactive.correlationId) = (one, other)
            await #expect(throws: NSError.self) { try await app.acquireTokenSilent(with: silent) }
            await #expect(throws: NSError.self) { try await app.acquireToken(with: interactive) }
            let nobody = MSALAccount(Sample.account(home: nil, username: nil))
            #expect(throws: NSError.self) { try app.remove(nobody) }
            let lines = await MSALLogTests.logged()
            let refusal = "failed with -50000, internal code -42000"
            #expect(
                lines == [
                    "1 acquireTokenSilent \(refusal), correlation ID \(CorrelationID(one))",
                    "1 acquireToken \(refusal), correlation ID \(CorrelationID(other))", "1 remove \(refusal)",
                ])
        }
    }

    // Mirrors: M28 MSALExternalAccountHandlerTests testRemoveAccount_whenFailedToRemove_shouldReturnNoAndFillError: with a warning in the log
    @Test func warnsOfAnExternalProviderThatFailsToRemove() async {
        await #expect(processExitsWith: .success) {
            _ = try MSALLogTests.application()
            let accounts = ExternalAccounts([FailingProvider()])
            #expect(throws: NSError.self) {
                try accounts.remove(MSALAccount(Sample.account()), wipeAccount: false)
            }
            let lines = await MSALLogTests.logged()
            #expect(lines == ["2 an external account provider failed to remove"])
        }
    }
}

/// A provider without accounts, which fails to remove one.
private final class FailingProvider: NSObject, MSALExternalAccountProviding {
    func update(_ account: any MSALAccountProtocol, idTokenClaims: [AnyHashable: Any]) throws {}

    func remove(_ account: any MSALAccountProtocol, wipeAccount: Bool, tenantProfiles: [MSALTenantProfile]?) throws {
        throw NSError(domain: "provider", code: 1)
    }

    func accounts(with parameters: MSALAccountEnumerationParameters) throws -> [any MSALAccountProtocol] { [] }
}
