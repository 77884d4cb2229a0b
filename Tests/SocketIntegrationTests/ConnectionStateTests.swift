internal import TestSupport
internal import Testing

@testable internal import AgentClient

/// The numbers of calls, which a cancellation may come before, between or after.
@Suite(.bounded) struct ConnectionStateTests {
    @Test func refusesACallThatWasCancelledBeforeItBegan() {
        var state = ConnectionState()
        let id = state.reserveID()
        #expect(state.abandon(id) == nil)
        #expect(state.add(Self.call, id: id) == .cancelled)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    @Test func keepsNothingOfACallThatIsCancelledTooLate() {
        var state = ConnectionState()
        let id = state.reserveID()
        #expect(state.add(Self.call, id: id) == .needsThread)
        #expect(state.removeCall(id) != nil)
        #expect(state.abandon(id) == nil)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    private static let call = PendingCall(frame: [], deadline: .distantFuture, isRepeatable: true) { _ in }
}
