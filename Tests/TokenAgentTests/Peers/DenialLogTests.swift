internal import AccessPolicy
internal import Logging
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

/// The messages about refused requests.
@Suite(.bounded) struct DenialLogTests {
    /// Keeps the messages of a logger.
    private struct Collector: LogHandler {
        final class Messages: Sendable {
            let all = Mutex<[String]>([])
        }

        let messages: Messages
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice

        init(_ messages: Messages) { self.messages = messages }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            messages.all.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    /// An app that repeats a refused request must not fill the disk.
    @Test func logsSomeRefusalsInAMinuteAndThenTheNumberOfTheOthers() {
        let messages = Collector.Messages()
        let clock = TestClock()
        let log = DenialLog(
            logger: Logger(label: "test") { _ in Collector(messages) }, now: { clock.now })
        let request = PolicyRequest(name: "export_cache", subject: RequestSubject(isLimitedToApp: false))
        let peer = PeerIdentity(userID: 1000, processID: 7)
        for _ in 0..<1000 { log.add(request, TokenError(.requestDenied, "refused"), from: peer) }
        #expect(messages.all.withLock(\.count) == DenialLog.limit)
        clock.advance(by: 60)
        log.add(request, TokenError(.requestDenied, "refused"), from: peer)
        let last = messages.all.withLock { Array($0.suffix(2)) }
        #expect(last.first?.contains("940") == true && last.last?.contains("export_cache") == true)
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
