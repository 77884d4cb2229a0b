internal import Synchronization

/// Whether a request may have reached the authority, for who has to know what became of it when no answer comes.
package final class SendingMark: Sendable {
    private let attempts = Atomic(0)

    package init() {}

    /// False when all that was tried ended before there was a connection to send anything over.
    package var mayHaveArrived: Bool { attempts.load(ordering: .acquiring) > 0 }

    func begun() { attempts.add(1, ordering: .acquiringAndReleasing) }

    /// The attempt that has begun came to nothing: there was no connection.
    func neverConnected() { attempts.subtract(1, ordering: .acquiringAndReleasing) }
}
