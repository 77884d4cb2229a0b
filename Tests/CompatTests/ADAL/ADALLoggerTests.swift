internal import AgentClient
internal import CompatSupport
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import ADALCompat

/// The settings of the log are those of the process, so these tests run one after the other.
@Suite(.bounded, .serialized) struct ADALLoggerTests {
    /// Collects the lines of the requests with one correlation ID, because other tests log at the same time.
    private final class Lines: Sendable {
        let id = UUID()
        private let lines = Mutex<[String]>([])

        func add(_ line: String) {
            guard line.contains(id.uuidString.lowercased()) else { return }
            lines.withLock { $0.append(line) }
        }

        var all: [String] { lines.withLock { $0 } }
    }

    /// Makes a silent request for Alice, to an agent that does not run, and waits for its lines.
    private func fail(_ lines: Lines) async throws {
        try await request(lines)
        await LogQueue.drain()
    }

    private func request(_ lines: Lines) async throws {
        let context = try #require(
            ADAuthenticationContext(authority: "https://login.microsoftonline.com/common", error: nil))
        context.correlationId = lines.id
        context.agent = AgentClient(socketPath: "/nonexistent/agent.sock")
        context.currentSignIn = CurrentSignIn()
        _ = await context.acquireTokenSilent(
            withResource: "https://graph.microsoft.com", clientId: "app-1",
            redirectUri: try #require(URL(string: "myapp://auth")), userId: "alice@contoso.com")
    }

    private func reset() {
        ADLogger.setLoggerCallback(nil)
        ADLogger.setLevel(ADAL_LOG_LEVEL_INFO)
        ADLogger.setPiiEnabled(false)
        ADLogger.setNSLogging(false)
    }

    // Mirrors: MSIDLogger init, whose settings are those of ADAL 2.7.18
    @Test func startsWithTheSettingsOfADAL() {
        #expect(ADLogger.getLevel() == ADAL_LOG_LEVEL_INFO)
        #expect(!ADLogger.getPiiEnabled())
        #expect(!ADLogger.getNSLogging())
    }

    // Mirrors: ADLoggerTests testSetNSLogging_whenValueTrue_shouldReturnTrueInGetNSLogging and one more
    @Test func keepsWhetherItWritesToStandardError() {
        defer { reset() }
        ADLogger.setNSLogging(true)
        #expect(ADLogger.getNSLogging())
        ADLogger.setNSLogging(false)
        #expect(!ADLogger.getNSLogging())
    }

    // Mirrors: ADLoggerTests' cases of messages with and without personal data
    @Test func logsARequestWithoutPersonalDataByDefault() async throws {
        defer { reset() }
        let lines = Lines()
        ADLogger.setLoggerCallback { level, message, containsPii in
            lines.add("\(level.rawValue) \(containsPii) \(message)")
        }
        try await fail(lines)
        #expect(lines.all.map { $0.prefix(7) } == ["3 false", "1 false"])
        #expect(lines.all.last?.contains("ADAuthenticationErrorDomain -1") == true)
        #expect(!lines.all.joined().contains("alice"))
    }

    @Test(arguments: [false, true]) func namesTheUserInMarkedLinesOnlyIfTheAppWantsThem(isWanted: Bool) async throws {
        defer { reset() }
        let lines = Lines()
        ADLogger.setPiiEnabled(isWanted)
        ADLogger.setLoggerCallback { level, message, containsPii in
            lines.add("\(level.rawValue) \(containsPii) \(message)")
        }
        try await fail(lines)
        #expect(lines.all.filter { $0.contains("alice@contoso.com") }.count == (isWanted ? 1 : 0))
        #expect(lines.all.filter { $0.hasPrefix("3 true") }.count == (isWanted ? 1 : 0))
        #expect(lines.all.contains { $0.hasPrefix("3 false") && $0.contains("began") })
        #expect(lines.all.contains { $0.hasPrefix("1 false") })
    }

    // Mirrors: MSIDLogger, which calls the callback on a serial queue: apps append to arrays in it
    @Test func callsTheCallbackForOneLineAtATime() async throws {
        defer { reset() }
        let lines = Lines()
        let active = Atomic(0)
        let overlaps = Atomic(0)
        ADLogger.setLoggerCallback { _, message, _ in
            if active.add(1, ordering: .relaxed).oldValue > 0 { overlaps.add(1, ordering: .relaxed) }
            lines.add(message)
            active.subtract(1, ordering: .relaxed)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<32 { group.addTask { try await self.fail(lines) } }
            try await group.waitForAll()
        }
        #expect(overlaps.load(ordering: .relaxed) == 0)
        #expect(lines.all.count == 64)
    }

    @Test func callsNoCallbackAfterItHasBeenReplaced() async throws {
        defer { reset() }
        let lines = Lines()
        let mayContinue = DispatchSemaphore(value: 0)
        LogQueue.call { mayContinue.wait() }
        ADLogger.setLoggerCallback { _, message, _ in lines.add(message) }
        // The lines of the request wait behind the call above.
        try await request(lines)
        ADLogger.setLoggerCallback { _, _, _ in }
        mayContinue.signal()
        await LogQueue.drain()
        #expect(lines.all.isEmpty)
    }

    @Test func logsNothingAtTheLevelForNothing() async throws {
        defer { reset() }
        let lines = Lines()
        ADLogger.setLevel(ADAL_LOG_LEVEL_NO_LOG)
        ADLogger.setLoggerCallback { _, message, _ in lines.add(message) }
        try await fail(lines)
        #expect(lines.all.isEmpty)
    }

    /// An app that reports the errors of its log would report each user who has to sign in, or does not want to. At an authority that
    /// nobody knows, no sign-in helps.
    @Test(
        arguments: [
            (TokenError.Code.interactionRequired, nil, 3), (.userCanceled, nil, 3), (.agentUnavailable, nil, 1),
            (.serverOAuth, "invalid_request", 3), (.authorityValidation, "invalid_instance", 1),
        ] as [(TokenError.Code, String?, Int)])
    func logsARequiredOrCancelledSignInAsNoError(code: TokenError.Code, said: String?, level: Int) async {
        defer { reset() }
        let lines = Lines()
        ADLogger.setLoggerCallback { level, message, _ in lines.add("\(level.rawValue) \(message)") }
        let log = ADLog(component: nil, correlationID: CorrelationID(lines.id))
        var failure = TokenError(code, "why")
        failure.details.oauthError = said
        failure.details.httpStatus = said == nil ? nil : 400
        let error = ADAuthenticationError.silent(failure)
        #expect(error.invitesInteraction == (level == 3 && code != .userCanceled))
        log.logFailure(error)
        await LogQueue.drain()
        #expect(lines.all.map { String($0.prefix(2)) } == ["\(level) "])
    }

    /// An older callback is not told which messages name a user.
    @Test func tellsAnOlderCallbackPersonalDataBesideTheMessage() {
        let told = Mutex<[String?]>([])
        let callback: LogCallback = { _, message, text, _, _ in told.withLock { $0 += [message, text] } }
        var state = ADLogger.State()
        state.oldCallback = AppCallback(callback)
        state.callBack(ADAL_LOG_LEVEL_INFO, "of alice@contoso.com", isPii: true, code: 0)
        state.callBack(ADAL_LOG_LEVEL_INFO, "began", isPii: false, code: 0)
        #expect(told.withLock { $0 } == ["PII message", "of alice@contoso.com", "began", nil])
    }

    /// A terminal may be recorded, and a journal be read by others. In a process of its own, since all tests write there.
    @Test func writesNoPersonalDataToStandardError() async {
        let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            ADLogger.setPiiEnabled(true)
            ADLogger.setNSLogging(true)
            ADLogger.setLoggerCallback { _, _, _ in }
            try await ADALLoggerTests().request(ADALLoggerTests.Lines())
        }
        let written = String(decoding: ended?.standardErrorContent ?? [], as: UTF8.self)
        #expect(written.contains("acquireTokenSilent began"), "\(written)")
        #expect(!written.contains("alice@contoso.com"), "\(written)")
    }
}
