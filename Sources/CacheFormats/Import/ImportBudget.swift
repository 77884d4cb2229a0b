internal import Synchronization
package import TokenModel

/// The time that a step of an import may take; it does not run while the machine is suspended.
package struct ImportBudget: Sendable {
    private let end: SuspendingClock.Instant?
    private let time: Duration
    private let cancellation: TransferCancellation?

    /// Creates a budget whose time begins now.
    ///
    /// - Parameter cancellation: ends the import before its time.
    package init(_ time: Duration, _ cancellation: TransferCancellation? = nil) {
        (self.time, self.cancellation) = (time, cancellation)
        end = SuspendingClock.now.advanced(by: time)
    }

    private init() { (end, time, cancellation) = (nil, .zero, nil) }

    /// No limit.
    package static let unlimited = ImportBudget()

    /// Whether the import has to end.
    var isOver: Bool { isTimeOver || cancellation?.error != nil }

    private var isTimeOver: Bool { end.map { $0 <= SuspendingClock.now } ?? false }

    /// - Throws: `timedOut` (-53006), with what to do, if the time has passed; the error of the cancellation if it was cancelled.
    package func check() throws(TokenError) {
        try cancellation?.check()
        guard isTimeOver else { return }
        throw TokenError(
            .timedOut,
            "the import took longer than \(time.components.seconds) seconds, and nothing was imported; try again when the machine is "
                + "less busy, or divide the file")
    }
}

/// Ends imports and exports in progress, which read and compare on other threads.
package final class TransferCancellation: Sendable {
    private let reason = Mutex<TokenError?>(nil)

    package init() {}

    /// The error with which the imports and exports end; nil until they are cancelled.
    var error: TokenError? { reason.withLock(\.self) }

    /// Ends the imports and exports at their next check. A second call has no effect.
    package func cancel(_ error: TokenError) { reason.withLock { $0 = $0 ?? error } }

    /// - Throws: the error of the cancellation.
    package func check() throws(TokenError) {
        if let error { throw error }
    }
}
