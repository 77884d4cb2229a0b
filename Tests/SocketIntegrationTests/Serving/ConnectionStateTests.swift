internal import TestSupport
internal import Testing

@testable internal import AgentClient

/// The state of calls that are cancelled before, during or after they are sent.
@Suite(.bounded) struct ConnectionStateTests {
    @Test func refusesACallThatWasCancelledBeforeItBegan() {
        var state = ConnectionState()
        let id = state.reserveID()
        #expect(state.abandon(id) == nil)
        #expect(state.add(Self.call, id: id) == .cancelled)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    @Test func keepsNoStateOfACallThatIsCancelledTooLate() {
        var state = ConnectionState()
        let id = state.reserveID()
        #expect(state.add(Self.call, id: id) == .needsThread)
        #expect(state.removeCall(id) != nil)
        #expect(state.abandon(id) == nil)
        #expect(state.calls.isEmpty && state.reserved.isEmpty)
    }

    private static let call = PendingCall(frame: [], deadline: .distantFuture, isRepeatable: true) { _ in }
}
