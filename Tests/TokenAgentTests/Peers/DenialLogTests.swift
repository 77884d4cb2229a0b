internal import AccessPolicy
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The messages about refused requests.
@Suite(.bounded) struct DenialLogTests {
    /// An app that repeats a refused request must not fill the disk.
    @Test func logsSomeRefusalsInAMinuteAndThenTheNumberOfTheOthers() {
        let messages = LogCollector.Messages()
        let clock = TestClock()
        let log = DenialLog(logger: messages.logger(), now: { clock.now })
        let request = PolicyRequest(name: "export_cache", subject: RequestSubject(isLimitedToApp: false))
        let peer = PeerIdentity(userID: 1000, processID: 7)
        for _ in 0..<1000 { log.add(request, TokenError(.requestDenied, "refused"), from: peer) }
        #expect(messages.all.count == MessageLimit.messages)
        clock.advance(by: 60)
        log.add(request, TokenError(.requestDenied, "refused"), from: peer)
        let last = messages.all.suffix(2)
        #expect(last.first?.contains("940") == true && last.last?.contains("export_cache") == true)
    }

    /// An administrator looks for the path of a program.
    @Test func namesTheProgramAndTheProcess() {
        let messages = LogCollector.Messages()
        let log = DenialLog(logger: messages.logger(), now: { 0 })
        let request = PolicyRequest(name: "export_cache", subject: RequestSubject(isLimitedToApp: false))
        let sandbox = PeerIdentity.Sandbox(app: "flatpak:org.contoso.Notes")
        log.add(
            request, TokenError(.requestDenied, "refused"),
            from: PeerIdentity(userID: 1000, processID: 7, sandbox: sandbox))
        let message = messages.all.first ?? ""
        #expect(message.contains("\"peer\": flatpak:org.contoso.Notes") && message.contains("\"pid\": 7"), "\(message)")
    }

    /// Some letters form a character with what is behind them.
    @Test func logsNothingThatCouldForgeAField() {
        #expect(RequestLog.safe("app-1_b.c:/@é") == "app-1_b.c:/@é")
        for text in ["a b", "a=b", "a\"b", "a\nb", "\r\n"] {
            for joined in [text, text.unicodeScalars.map { "\u{D4E}\($0)\u{301}" }.joined()] {
                let safe = RequestLog.safe(joined).utf8
                #expect(!safe.contains { " =\"\r\n".utf8.contains($0) }, "\(joined)")
            }
        }
        #expect(RequestLog.safe(String(repeating: "a\u{301}", count: 200)).unicodeScalars.count == 80)
    }
}
