internal import AgentConfiguration
internal import Dispatch
internal import PosixFiles
internal import Synchronization
internal import TokenModel

/// Shows on the terminal for how long a command has been waiting for the agent, once that is more than a second: the provider may be slow, or
/// the agent may not answer. Elsewhere nothing is shown.
final class WaitingLine: Sendable {
    private enum State {
        case hidden, shown, ended
    }

    private let start = DispatchTime.now()
    private let state = Mutex(State.hidden)

    init() {
        guard Terminal.rewritesMessages else { return }
        Task {
            try? await Task.sleep(for: .seconds(1))
            // The line would be written over the agent's question, which is on the same terminal.
            guard (try? Settings.read())?.configuration.confirmsAnything == false else { return }
            while show() { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// Returns the result of an operation, and shows for how long it has been waited for.
    static func during<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let line = WaitingLine()
        defer { line.end() }
        return try await operation()
    }

    /// Writes the line with the present time; returns false after the end.
    private func show() -> Bool {
        state.withLock { state in
            guard state != .ended else { return false }
            // As a job in the background, it would write over what the user types.
            guard Terminal.isInForeground else { return true }
            state = .shown
            let seconds = (DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1_000_000_000
            let what = "Waiting for the agent: \(Phrases.countdown(Int64(clamping: seconds)))"
            Terminal.writeError(.eraseLine + .dim(Terminal.onOneLine(["\(what) (Ctrl-C ends it)", what, ""])))
            return true
        }
    }

    /// Removes the line from the terminal, before something else is written. Later calls have no effect.
    func end() {
        state.withLock { state in
            if state == .shown, Terminal.isInForeground { Terminal.writeError(.eraseLine) }
            state = .ended
        }
    }
}
