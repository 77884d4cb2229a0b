internal import Synchronization

/// A queue from which one task at a time receives elements.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiter: CheckedContinuation<Element, Never>?
    }

    private let state = Mutex(State())

    /// The number of elements that have not been received.
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

    /// Waits for the next element and removes it.
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
