internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// Members that take turns.
@Suite(.bounded) struct RoundRobinTests {
    private func order(_ elements: [(Int, String)]) -> [String] {
        var queue = RoundRobin<Int, String>()
        for (member, element) in elements { queue.append(element, of: member) }
        return Array(sequence(state: queue) { $0.popFirst() })
    }

    @Test func takesOneOfEachMember() {
        #expect(order([(1, "a"), (1, "b"), (1, "c"), (2, "d"), (3, "e"), (2, "f")]) == ["a", "d", "e", "b", "f", "c"])
    }

    @Test func keepsTheOrderOfOneMember() {
        #expect(order([(1, "a"), (1, "b"), (1, "c")]) == ["a", "b", "c"])
        #expect(order([]).isEmpty)
    }

    @Test func putsAMemberThatComesBackAtTheEnd() {
        var queue = RoundRobin<Int, String>()
        queue.append("a", of: 1)
        queue.append("b", of: 2)
        queue.append("c", of: 2)
        #expect(queue.popFirst() == "a")
        queue.append("d", of: 1)
        #expect(queue.popFirst() == "b")
        #expect(queue.popFirst() == "d")
        #expect(queue.popFirst() == "c")
        #expect(queue.popFirst() == nil)
    }
}
