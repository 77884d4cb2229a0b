internal import Dispatch
internal import PosixFiles
internal import TokenModel

/// Shows on the terminal how much time is left, once a second; elsewhere one line.
struct Countdown {
    private let task: Task<Void, Never>?

    /// - Parameter what: what is waited for, as the beginning of a line.
    init(_ what: String, seconds: Int64) {
        guard Terminal.rewritesMessages else {
            Terminal.printError("\(what), for \(Phrases.duration(seconds)) at most (Ctrl-C ends it).")
            task = nil
            return
        }
        let end = DispatchTime.now() + .seconds(Int(clamping: seconds))
        task = Task {
            while !Task.isCancelled {
                // A second that has begun counts as a whole one.
                let now = DispatchTime.now()
                let left =
                    end > now ? Int64((end.uptimeNanoseconds - now.uptimeNanoseconds + 999_999_999) / 1_000_000_000) : 0
                // As a job in the background, it would write over what the user types.
                if Terminal.isInForeground { Terminal.writeError(.eraseLine + .dim(Self.line(what, left))) }
                try? await Task.sleep(for: .seconds(1))
            }
            if Terminal.isInForeground { Terminal.writeError(.eraseLine) }
        }
    }

    private static func line(_ what: String, _ seconds: Int64) -> String {
        let time = Phrases.countdown(seconds)
        return Terminal.onOneLine([
            "\(what): \(time) left (Ctrl-C ends it)", "\(what): \(time) left", "\(time) left", time,
        ])
    }

    /// Removes the line from the terminal.
    func stop() async {
        task?.cancel()
        await task?.value
    }
}
