internal import NIOCore

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
