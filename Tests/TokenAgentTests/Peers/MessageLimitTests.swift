internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// The limit of messages that an app can cause.
@Suite(.bounded) struct MessageLimitTests {
    private let messages = LogCollector.Messages()
    private let clock = TestClock()
    private let limit: MessageLimit

    init() {
        limit = MessageLimit(logger: messages.logger(), now: { [clock] in clock.now })
    }

    /// The number of messages that may be logged, of as many as an app causes.
    private func admitted(of count: Int) -> Int { (0..<count).count { _ in limit.admitsMessage() } }

    @Test func admitsSomeMessagesInAMinute() {
        #expect(admitted(of: 1000) == MessageLimit.messages)
        clock.advance(by: 59)
        #expect(admitted(of: 1) == 0)
        clock.advance(by: 1)
        #expect(admitted(of: 1000) == MessageLimit.messages)
    }

    @Test func logsTheNumberOfTheOthersWithTheNextMessage() {
        _ = admitted(of: MessageLimit.messages + 7)
        #expect(messages.all.isEmpty)
        clock.advance(by: 60)
        _ = admitted(of: 1)
        #expect(messages.all.count == 1 && messages.all.first?.contains("\"count\": 7") == true)
    }

    @Test func logsNoNumberIfNoneWasLeftOut() {
        _ = admitted(of: MessageLimit.messages)
        clock.advance(by: 60)
        #expect(admitted(of: 1) == 1 && messages.all.isEmpty)
    }

    /// Otherwise nothing would be logged until the clock has caught up.
    @Test func beginsANewMinuteWhenTheClockIsSetBack() {
        _ = admitted(of: 1000)
        clock.advance(by: -3600)
        #expect(admitted(of: 1) == 1)
    }
}
