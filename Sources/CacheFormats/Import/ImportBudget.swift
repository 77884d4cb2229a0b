package import TokenModel

/// The time that a step of an import may take; it does not run while the machine is suspended.
package struct ImportBudget: Sendable {
    private let end: SuspendingClock.Instant?
    private let time: Duration

    /// Begins now.
    package init(_ time: Duration) {
        self.time = time
        end = SuspendingClock.now.advanced(by: time)
    }

    private init() { (end, time) = (nil, .zero) }

    /// No limit.
    package static let unlimited = ImportBudget()

    /// Whether the time has passed.
    var isOver: Bool { end.map { $0 <= SuspendingClock.now } ?? false }

    /// - Throws: `timedOut` (-53006), with what to do, if the time has passed.
    package func check() throws(TokenError) {
        guard isOver else { return }
        throw TokenError(
            .timedOut,
            "the import took longer than \(time.components.seconds) seconds, and nothing was imported; try again when the machine is "
                + "less busy, or divide the file")
    }
}
