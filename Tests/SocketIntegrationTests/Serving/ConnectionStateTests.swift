internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TokenModel
internal import TokenWire

@testable internal import AgentClient

/// The state of calls that are cancelled before, during or after they are sent, and of those that read their replies themselves.
@Suite(.bounded) struct ConnectionStateTests {
    @Test func refusesACallThatWasCancelledBeforeItBegan() {
        var state = ConnectionState()
        state.reserve(1)
        #expect(state.abandon(1) == nil)
        let added = state.add(Self.call, id: 1)
        #expect(added.isCancelled)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    @Test func keepsNoStateOfACallThatIsCancelledTooLate() throws {
        var state = ConnectionState()
        state.reserve(1)
        let added = state.add(Self.call, id: 1)
        #expect(added.needsThread)
        let call = state.removeCall(repliedBy: try Self.reply(1))
        #expect(call != nil)
        #expect(state.abandon(1) == nil)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    /// A thread that wakes before the deadline would ask again and again until it has passed.
    @Test(arguments: [(1, 1), (999_999, 1), (1_500_000, 2), (0, 0)] as [(UInt64, Int32)])
    func sleepsUntilADeadlineHasPassed(nanoseconds: UInt64, milliseconds: Int32) {
        let now = MonotonicTime(nanoseconds: 5_000_000_000)
        let deadline = MonotonicTime(nanoseconds: now.nanoseconds + nanoseconds)
        #expect(deadline.pollTimeout(from: now) == milliseconds)
        #expect(MonotonicTime.distantFuture.pollTimeout(from: now) == -1)
    }

    @Test func endsTheThreadOnlyIfNoCallWaitsForAConnection() {
        var state = ConnectionState()
        state.reserve(1)
        _ = state.add(Self.call, id: 1)
        let endsWithACall = state.endThreadIfIdle()
        #expect(!endsWithACall)
        _ = state.abandon(1)
        let endsWithoutOne = state.endThreadIfIdle()
        #expect(endsWithoutOne)
        state.reserve(2)
        let later = state.add(Self.call, id: 2)
        #expect(later.needsThread)
    }

    @Test func sendsACallAloneOnlyIfNoOtherIsInFlight() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            #expect(state.sendAlone([2], id: 2) == nil)
            state.callerFinishedReading(on: connection)
            #expect(state.sendAlone([3], id: 3) == connection)
        }
    }

    /// A caller that is cancelled while it reads gives up reading: later calls must not wait for it.
    @Test func letsLaterCallsReadAfterACallIsCancelledWhileItsCallerReads() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            state.reserve(1)
            #expect(state.abandon(1) == nil)
            let adopted = state.adopt(Self.call, id: 1, sentOn: connection, isStreamIntact: true)
            #expect(adopted.isCancelled)
            #expect(state.calls.isEmpty && state.reserved.isEmpty)
            #expect(state.sendAlone([2], id: 2) == connection)
        }
    }

    @Test func hasTheThreadReadForACallThatIsNotAnsweredAtOnce() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            state.reserve(1)
            let adopted = state.adopt(Self.call, id: 1, sentOn: connection, isStreamIntact: true)
            #expect(adopted.isSent)
            #expect(pair.isWoken)
            #expect(state.nextWait()?.events == Int16(POLLIN))
            let call = state.removeCall(repliedBy: try Self.reply(1))
            #expect(call != nil)
        }
    }

    /// The thread has not looked at the state since, as when another process runs in its place.
    @Test func sendsTheNextCallAloneAsSoonAsTheLastOneInFlightIsAnswered() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            for id in [1, 2] as [UInt64] { Self.add(id, to: &state, until: .distantFuture) }
            #expect(state.nextWait()?.events == Int16(POLLIN))
            let first = state.removeCall(repliedBy: try Self.reply(1))
            let early = state.sendAlone([3], id: 3)
            #expect(first != nil && early == nil)
            let last = state.removeCall(repliedBy: try Self.reply(2))
            let sent = state.sendAlone([4], id: 4)
            #expect(last != nil && sent != nil)
        }
    }

    /// The thread reads when the agent closes the connection, also while a caller reads.
    @Test func losesNoReplyThatTheThreadReadsForACaller() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            let call = state.removeCall(repliedBy: try Self.reply(1))
            #expect(call == nil)
            state.disconnected()
            _ = state.connectionBroke()
            state.reserve(1)
            let outcome = state.adopt(Self.call, id: 1, sentOn: connection, isStreamIntact: false)
            guard case .replied(let reply) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(reply.id == 1)
        }
    }

    @Test(arguments: [true, false])
    func sendsACallAgainIfItsConnectionBrokeAndItMayBeSentTwice(isRepeatable: Bool) throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            state.disconnected()
            #expect(state.connectionBroke().hasCallsLeft == false)
            state.reserve(1)
            var call = Self.call
            (call.isRepeatable, call.timesSent) = (isRepeatable, 1)
            let outcome = state.adopt(call, id: 1, sentOn: connection, isStreamIntact: false)
            #expect(isRepeatable ? outcome.needsThread : outcome.isLost)
            #expect(state.calls.count == (isRepeatable ? 1 : 0))
        }
    }

    /// An agent that a call ends would be started for it again and again.
    @Test func sendsACallOnTwoConnectionsAtMost() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            Self.add(1, to: &state, until: .distantFuture)
            state.disconnected()
            let first = state.connectionBroke()
            #expect(first.ended.isEmpty && first.hasCallsLeft)
            _ = state.opened(socket: pair.socket, wake: pair.wake, hello: [], at: .now)
            state.disconnected()
            let second = state.connectionBroke()
            #expect(second.ended.count == 1 && !second.hasCallsLeft)
        }
    }

    /// The end of reading on an old connection changes nothing on the one that has replaced it.
    @Test func leavesALaterConnectionToItsThread() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            state.disconnected()
            _ = state.connectionBroke()
            _ = state.opened(socket: pair.socket, wake: pair.wake, hello: [], at: .now)
            state.callerFinishedReading(on: connection)
            #expect(state.sendAlone([2], id: 2) == nil)
            _ = state.nextWait()
            #expect(state.sendAlone([3], id: 3) != nil)
        }
    }

    /// While the client waited for an agent, a deadline has passed. What cannot be undone must not happen after its caller gave up.
    @Test func sendsNoCallOnANewConnectionWhoseDeadlineHasPassed() throws {
        try ConnectionPair.with { pair in
            var state = ConnectionState()
            let now = MonotonicTime.now
            for (id, seconds) in [(1, 1), (2, 3)] as [(UInt64, Int)] {
                state.reserve(id)
                _ = state.add(
                    PendingCall(
                        frame: [UInt8(id)], deadline: now.advanced(by: .seconds(seconds)), isRepeatable: false
                    ) { _ in }, id: id)
            }
            let late = state.opened(
                socket: pair.socket, wake: pair.wake, hello: [9], at: now.advanced(by: .seconds(2)))
            #expect(late.map(\.frame) == [[1]] && late.map(\.timesSent) == [0])
            #expect(pair.sent == [9, 2])
            #expect(state.calls.keys.map(\.self) == [2])
        }
    }

    @Test func waitsForTheDeadlineOfTheCallsThatRemain() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let now = MonotonicTime.now
            for id in [1, 3] as [UInt64] { Self.add(id, to: &state, until: now.advanced(by: .seconds(Int64(id)))) }
            let replied = state.removeCall(repliedBy: try Self.reply(1))
            #expect(replied != nil)
            let early = state.expire(at: now.advanced(by: .seconds(2)))
            #expect(early.isEmpty)
            #expect(state.nextWait()?.deadline == now.advanced(by: .seconds(3)))
            let late = state.expire(at: now.advanced(by: .seconds(3)))
            #expect(late.count == 1)
            #expect(state.calls.isEmpty)
        }
    }

    /// The thread asks for late calls at each reply. If it compared every deadline then, this test would take longer than its time limit.
    @Test func comparesTheDeadlinesOfManyCallsOnlyWhenOneHasPassed() {
        var state = ConnectionState()
        let (now, count) = (MonotonicTime.now, 50_000)
        for id in 1...UInt64(count) { Self.add(id, to: &state, until: now.advanced(by: .seconds(90))) }
        var early = 0
        for _ in 0..<count { early += state.expire(at: now).count }
        #expect(early == 0)
        let late = state.expire(at: now.advanced(by: .seconds(90)))
        #expect(late.count == count)
    }

    /// A socket that refuses input counts as writable for ever, so that the thread would not wait.
    @Test func endsAConnectionWhoseOtherEndDoesNotRead() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            pair.refuseInput()
            Self.add(1, to: &state, until: .distantFuture)
            #expect(state.nextWait()?.events == Int16(POLLIN))
            var byte: UInt8 = 0
            let count = recv(pair.socket.number, &byte, 1, Int32(MSG_DONTWAIT))
            #expect(count == 0)
        }
    }

    /// As on macOS after a restart of the agent, which nobody has noticed. The agent got nothing of the call.
    @Test func keepsACallForTheNextConnectionIfThisOneWasClosedBefore() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            pair.refuseInput()
            let alone = state.sendAlone([1], id: 1)
            #expect(alone == nil)
            state.reserve(1)
            let call = PendingCall(frame: [1], deadline: .distantFuture, isRepeatable: false) { _ in }
            let added = state.add(call, id: 1)
            #expect(added.isSent && pair.isWoken)
            state.disconnected()
            let first = state.connectionBroke()
            #expect(first.ended.isEmpty && first.hasCallsLeft)
            // An agent that closes every connection must not keep the thread busy.
            _ = state.opened(socket: pair.socket, wake: pair.wake, hello: [], at: .now)
            state.disconnected()
            let second = state.connectionBroke()
            #expect(second.ended.count == 1 && !second.hasCallsLeft)
        }
    }

    @Test func passesOnTheLateReplyOfACallThatHasAUseForIt() throws {
        try ConnectionPair.with { pair in
            let late = Mutex(0)
            let ended = Mutex(0)
            let call = PendingCall(
                frame: [1], deadline: .distantFuture, isRepeatable: false,
                lateReply: { _ in late.withLock { $0 += 1 } }, deliver: { _ in ended.withLock { $0 += 1 } })
            var state = pair.connected()
            state.reserve(1)
            #expect(state.add(call, id: 1).needsThread)
            #expect(state.abandon(1) != nil)
            #expect(state.calls.isEmpty, "it has not been sent")
            state.reserve(2)
            #expect(state.add(call, id: 2).isSent)
            let abandoned = state.abandon(2)
            #expect(abandoned != nil)
            let waiting = state.removeCall(repliedBy: try Self.reply(2))
            waiting?.deliver(.success(try Self.reply(2)))
            #expect(late.withLock { $0 } == 1)
            #expect(ended.withLock { $0 } == 0, "the caller of `abandon` ends the call")
            #expect(state.calls.isEmpty)
        }
    }

    /// A reply that the thread reads while the caller, which has been cancelled, still reads, too.
    @Test func hasTheReplyOfACallThatIsAbandonedWhileItsCallerReads() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            let sent = state.sendAlone([1], id: 1)
            let connection = try #require(sent)
            #expect(state.removeCall(repliedBy: try Self.reply(1)) == nil)
            state.reserve(1)
            #expect(state.abandon(1) == nil)
            let adopted = state.adopt(Self.call, id: 1, sentOn: connection, isStreamIntact: true)
            guard case .cancelled(let reply?) = adopted else {
                Issue.record("the reply is lost")
                return
            }
            #expect(reply.id == 1)
        }
    }

    /// An agent that is gone may be restarting, also if nobody had a call in flight when it went; one that cannot be reached is not waited
    /// for again.
    @Test func knowsUntilAnAttemptFailsThatThereWasAnAgent() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            state.disconnected()
            #expect(!state.connectionBroke().hasCallsLeft)
            #expect(state.wasConnected)
            #expect(state.connectingFailed().isEmpty)
            #expect(!state.wasConnected)
        }
    }

    /// An app that closes every descriptor (`closefrom`) may open files of its own, and call the agent, before the thread has noticed.
    @Test func leavesFilesAloneThatHaveTheNumbersOfItsDescriptors() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            var files: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, SocketType.stream, 0, &files) == 0)
            defer { for file in files { close(file) } }
            for descriptor in [pair.socket, pair.wake] {
                try #require(dup2(files[0], descriptor.number) == descriptor.number)
            }
            #expect(state.sendAlone([1], id: 1) == nil)
            Self.add(2, to: &state, until: .distantFuture)
            _ = state.close()
            var byte: UInt8 = 0
            // A byte would have been written there, and an end of the stream would be that of a connection that was shut down.
            let isUntouched = recv(files[1], &byte, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN
            #expect(isUntouched)
        }
    }

    /// The thread waits for a reply that may take hours, such as the next event. The file that it polls stays open meanwhile.
    @Test func wakesTheThreadThatReadsFromASocketThatTheAppHasClosed() throws {
        try ConnectionPair.with { pair in
            var state = pair.connected()
            Self.startThread(of: &state)
            Self.add(1, to: &state, until: .distantFuture)
            _ = state.nextWait()
            pair.noticeWaking()
            let null = open("/dev/null", O_RDWR)
            defer { close(null) }
            try #require(dup2(null, pair.socket.number) == pair.socket.number)
            Self.add(2, to: &state, until: .distantFuture)
            #expect(pair.isWoken)
        }
    }

    private static let call = PendingCall(frame: [1], deadline: .distantFuture, isRepeatable: true) { _ in }

    private static func add(_ id: UInt64, to state: inout ConnectionState, until deadline: MonotonicTime) {
        state.reserve(id)
        _ = state.add(PendingCall(frame: [1], deadline: deadline, isRepeatable: true) { _ in }, id: id)
    }

    /// Marks the thread as started, as for a call that has ended.
    private static func startThread(of state: inout ConnectionState) {
        add(0, to: &state, until: .distantFuture)
        _ = state.abandon(0)
    }

    private static func reply(_ id: UInt64) throws -> ReplyFrame {
        let frame = ReplyFrame.encode(.success(CancelInteraction.Reply()), to: CancelInteraction.self, id: id)
        return try ReplyFrame(decoding: frame.dropFirst(FrameDecoder.headerLength))
    }
}

extension ConnectionState.AddResult {
    fileprivate var isCancelled: Bool { if case .cancelled = self { true } else { false } }
    fileprivate var needsThread: Bool { if case .needsThread = self { true } else { false } }
    fileprivate var isSent: Bool { if case .sent = self { true } else { false } }
    fileprivate var isLost: Bool { if case .lost = self { true } else { false } }
}
