internal import Dispatch
internal import Synchronization

/// Says on standard error how far something is that takes longer than a second, and then once a second.
final class Progress: Sendable {
    private let what: String
    private let lastSaid: Mutex<DispatchTime>

    init(_ what: String) {
        self.what = what
        lastSaid = Mutex(.now())
    }

    /// Takes a fraction of the whole.
    func report(_ fraction: Double) {
        let isDue = lastSaid.withLock { last in
            guard DispatchTime.now() >= last + .seconds(1) else { return false }
            last = .now()
            return true
        }
        if isDue { Terminal.printError("\(what): \(Int(fraction * 100)) %") }
    }
}
