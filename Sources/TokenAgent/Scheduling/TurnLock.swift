internal import NIOCore

/// Exclusive locks, one for each key, for code on one actor. The members that wait for a key take turns: a member with one request
/// waits for one request of every other member at most, however many these have. Requests of one member are granted in order of
/// arrival.
final class TurnLock<Key: Hashable, Member: Hashable> {
    private typealias Waiters = RoundRobin<Member, QueuedWait>

    /// The keys that are held, and the requests that wait for each.
    private var held: [Key: Waiters] = [:]

    /// Runs `work` while it is the only holder of the key.
    ///
    /// - Parameters:
    ///   - request: of the members in whose turns it is granted, whichever comes first.
    ///   - work: its argument is whether it had to wait.
    /// - Returns: nil if the request was abandoned before.
    func exclusive<Value, Failure: Error>(
        _ key: Key, for request: SharedRequest<Member>, _ work: (_ hasWaited: Bool) async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard !request.isAbandoned else { return nil }
        let hasWaited = held[key] != nil
        if hasWaited {
            // `release` keeps the key held for the next waiter, so that no other request comes between.
            let isGranted = await request.wait { wait, member in self.held[key]?.append(wait, of: member) }
            guard isGranted else { return nil }
        } else {
            held[key] = Waiters()
        }
        defer { release(key) }
        return try await work(hasWaited)
    }

    private func release(_ key: Key) {
        while let next = held[key]?.popFirst() {
            if next.grant() { return }
        }
        held[key] = nil
    }
}

/// Elements of several members, which come out in turn: one of each member, and those of one member in order of arrival.
struct RoundRobin<Member: Hashable, Element> {
    /// The members with elements; each is there once.
    private var turns = CircularBuffer<Member>()
    private var elements: [Member: CircularBuffer<Element>] = [:]

    mutating func append(_ element: Element, of member: Member) {
        if elements[member] == nil { turns.append(member) }
        elements[member, default: CircularBuffer()].append(element)
    }

    mutating func popFirst() -> Element? {
        guard let member = turns.popFirst(), let element = elements[member]?.popFirst() else { return nil }
        if elements[member]?.isEmpty == true { elements[member] = nil } else { turns.append(member) }
        return element
    }
}

extension RoundRobin: Sendable where Member: Sendable, Element: Sendable {}
