internal import Synchronization

/// What arrives, in its order, for the one test that waits for it.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiter: CheckedContinuation<Element, Never>?
    }

    private let state = Mutex(State())

    /// How many elements have arrived that nobody has taken.
    var count: Int { state.withLock { $0.elements.count } }

    func put(_ element: Element) {
        let waiter = state.withLock { state -> CheckedContinuation<Element, Never>? in
            guard let waiter = state.waiter else {
                state.elements.append(element)
                return nil
            }
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: element)
    }

    /// The next element; waits for it.
    func next() async -> Element {
        await withCheckedContinuation { continuation in
            let element = state.withLock { state -> Element? in
                guard state.elements.isEmpty else { return state.elements.removeFirst() }
                state.waiter = continuation
                return nil
            }
            if let element { continuation.resume(returning: element) }
        }
    }
}
