internal import AgentConfiguration
internal import Dispatch
internal import PosixFiles
internal import Synchronization
internal import TokenModel

/// A line on the terminal that says how long something has taken or may take, and is written again each second until its end. Where lines
/// cannot be rewritten, none is shown.
final class TickingLine: Sendable {
    private struct State {
        /// The number of the present line: that of an earlier one is not written any more.
        var number = 0
        var isShown = false

        /// Removes the present line from the terminal.
        mutating func end() {
            if isShown, Terminal.isInForeground { Terminal.writeError(.eraseLine) }
            (number, isShown) = (number + 1, false)
        }
    }

    private let state = Mutex(State())

    /// Shows a line in place of the present one.
    ///
    /// - Parameters:
    ///   - delay: the time until then, in seconds.
    ///   - isWanted: whether the line is shown at all; called after the delay.
    ///   - forms: the texts of the line after a number of whole seconds, the longest first; that is shown for which the terminal has room.
    private func show(
        after delay: Int64 = 0, if isWanted: @escaping @Sendable () -> Bool = { true },
        _ forms: @escaping @Sendable (_ seconds: Int64) -> [String]
    ) {
        // Without a thread for its task, the command itself would wait.
        guard Terminal.rewritesMessages, (try? ThreadRoom.require(1)) != nil else { return }
        let number = state.withLock { state in
            state.end()
            return state.number
        }
        let start = DispatchTime.now()
        // ssoctl ends with its command, and so does the task.
        Task {
            if delay > 0 { try? await Task.sleep(for: .seconds(delay)) }
            guard isWanted() else { return }
            while write(number, forms(start.secondsUntilNow)) { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// - Returns: false if the line has ended.
    private func write(_ number: Int, _ forms: [String]) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            // As a job in the background, it would write over what the user types.
            guard Terminal.isInForeground else { return true }
            state.isShown = true
            Terminal.writeError(.eraseLine + .dim(Terminal.onOneLine(forms)))
            return true
        }
    }

    /// Removes the line from the terminal, before something else is written. Later calls have no effect.
    func end() { state.withLock { $0.end() } }
}

extension TickingLine {
    /// Shows for how long a command has been waiting for the agent, once that is more than a second: the provider may be slow, or the agent
    /// may not answer.
    func waitForAgent() {
        // The line would be written over the agent's question, which is on the same terminal.
        show(after: 1, if: { (try? Settings.read())?.configuration.confirmsAnything == false }) { seconds in
            let text = "Waiting for the agent: \(Phrases.countdown(seconds))"
            return ["\(text) (Ctrl-C ends it)", text, ""]
        }
    }

    /// Shows for how long a sign-in that was cancelled has been waited for, once that is more than a second: its tokens are being requested,
    /// and are saved if they come.
    func waitForLastResponse() {
        show(after: 1) { seconds in
            let text = "Waiting for the provider's response: \(Phrases.countdown(seconds))"
            return ["\(text) (Ctrl-C again ends it at once)", "Ctrl-C again ends it at once", ""]
        }
    }

    /// Shows how much time is left; where lines cannot be rewritten, prints one line.
    ///
    /// - Parameter what: what is waited for, as the beginning of a line.
    func countDown(_ what: String, from seconds: Int64) {
        guard Terminal.rewritesMessages else {
            return Terminal.printError("\(what), for \(Phrases.duration(seconds)) at most (Ctrl-C ends it).")
        }
        show { passed in
            let time = Phrases.countdown(max(seconds - passed, 0))
            return ["\(what): \(time) left (Ctrl-C ends it)", "\(what): \(time) left", "\(time) left", time]
        }
    }

    /// Returns the result of an operation of the agent, and shows for how long it has been waited for.
    static func during<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let line = TickingLine()
        line.waitForAgent()
        defer { line.end() }
        return try await operation()
    }
}

extension DispatchTime {
    /// The whole seconds that have passed since this time.
    fileprivate var secondsUntilNow: Int64 {
        Int64(clamping: (DispatchTime.now().uptimeNanoseconds - uptimeNanoseconds) / 1_000_000_000)
    }
}
