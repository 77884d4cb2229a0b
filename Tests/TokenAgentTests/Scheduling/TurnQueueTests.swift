internal import NIOCore
internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// The division of the event loop's time among peers, with a clock that the test's work advances.
@Suite(.bounded) struct TurnQueueTests {
    private let clock = Clock()

    @Test func doesTheWorkOfAPeerWithTimeAtOnce() {
        let (queue, work) = (clock.queue(), Work(clock, parts: 3))
        queue.run(work, of: PeerTurns())
        #expect(work.done == 3)
        #expect(clock.calls == 0)
    }

    /// The parts of both peers alternate, although the first has a hundred times as many.
    @Test func givesPeersTurnsInAlternation() {
        let queue = clock.queue()
        let (much, little) = (Work(clock, name: "much", parts: 1000), Work(clock, name: "little", parts: 20))
        queue.run(much, of: PeerTurns())
        queue.run(little, of: PeerTurns())
        #expect(clock.log == repeated("much", 10) + repeated("little", 10))
        clock.log = []
        queue.takeTurns(2)
        #expect(clock.log == repeated("much", 10) + repeated("little", 10))
        queue.takeTurns(3)
        #expect(little.done == 20)
        #expect(much.done == 50)
    }

    @Test func letsAnotherPeersFirstRequestPrecedeAQueuedOne() {
        let queue = clock.queue()
        let (much, hit) = (Work(clock, parts: 1000), Work(clock, parts: 1))
        queue.run(much, of: PeerTurns())
        #expect(much.done == 10)
        queue.run(hit, of: PeerTurns())
        #expect(hit.done == 1)
        #expect(much.done == 10)
    }

    @Test func givesEachConnectionOfAPeerItsPart() {
        let (queue, peer) = (clock.queue(), PeerTurns())
        let works = (0..<4).map { Work(clock, name: "\($0)", parts: 1000, partsAtOnce: 2) }
        for work in works { queue.run(work, of: peer) }
        clock.log = []
        queue.takeTurns(4)
        #expect(works.allSatisfy { $0.done >= 8 })
    }

    /// A part that takes ten turns is paid for by the turns that follow.
    @Test func givesAPeerWhosePartTookLongFewerTurns() {
        let queue = clock.queue()
        let (slow, quick) = (Work(clock, parts: 100, duration: 1000), Work(clock, parts: 1000))
        queue.run(slow, of: PeerTurns())
        queue.run(quick, of: PeerTurns())
        queue.takeTurns(9)
        #expect(slow.done == 1)
        #expect(quick.done == 100)
    }

    /// Requests that have no kept reply, of one connection or of several: another peer waits for a quarter of a turn.
    @Test func makesATurnShortInWhichRequestsAreWorkedOut() {
        let (queue, peer) = (clock.queue(), PeerTurns())
        let works = [Work(clock, parts: 1000, isWorkedOut: true), Work(clock, parts: 1000, isWorkedOut: true)]
        queue.run(works[0], of: peer)
        #expect(works.map(\.done) == [3, 0])
        queue.run(works[1], of: peer)
        #expect(works.map(\.done) == [3, 0])
        queue.takeTurn()
        queue.takeTurn()
        #expect(works.map(\.done) == [6, 3])
        let (others, other) = ((0..<4).map { _ in Work(clock, parts: 1, isWorkedOut: true) }, PeerTurns())
        for work in others { queue.run(work, of: other) }
        #expect(others.map(\.done) == [1, 1, 1, 0])
        clock.endIteration()
        let hits = Work(clock, parts: 1000)
        queue.takeTurns(10)
        queue.run(hits, of: other)
        #expect(hits.done == 10)
    }

    /// A peer that joins later does not get all turns until it has used as much time as the others.
    @Test func doesNotSaveUpUnusedTime() {
        let queue = clock.queue()
        let (old, new) = (Work(clock, parts: 10_000), Work(clock, parts: 10_000))
        queue.run(old, of: PeerTurns())
        queue.takeTurns(100)
        let before = old.done
        queue.run(new, of: PeerTurns())
        queue.takeTurns(10)
        #expect(old.done - before >= 40)
        #expect(new.done >= 40)
    }

    /// The event loop looks at other connections after each turn.
    @Test func takesOneTurnForEachCall() {
        let (queue, work) = (clock.queue(), Work(clock, parts: 35))
        queue.run(work, of: PeerTurns())
        for expected in [20, 30, 35] {
            #expect(clock.calls == 1)
            clock.calls = 0
            queue.takeTurn()
            #expect(work.done == expected)
        }
        #expect(clock.calls == 0)
        queue.takeTurn()
        #expect(work.done == 35)
    }

    @Test func limitsWhatAPeerGetsInOneIterationOfTheLoop() {
        let (queue, peer) = (clock.queue(), PeerTurns())
        let requests = (0..<30).map { _ in Work(clock, parts: 1) }
        for request in requests { queue.run(request, of: peer) }
        #expect(requests.count { $0.done == 1 } == 10)
        clock.endIteration()
        while clock.calls > 0 {
            clock.calls = 0
            queue.takeTurn()
        }
        #expect(requests.allSatisfy { $0.done == 1 })
        let later = Work(clock, parts: 1)
        queue.run(later, of: peer)
        #expect(later.done == 1)
    }

    /// A connection notes that a frame is incomplete when it works, and a peer that is out of time has its bytes read all the same.
    @Test func callsWorkThatWaitsForATurnAlsoIfNothingCanBeDone() {
        let (queue, peer) = (clock.queue(), PeerTurns())
        let (busy, idle) = (Work(clock, parts: 30), Work(clock, parts: 0))
        queue.run(busy, of: peer)
        queue.run(idle, of: peer)
        #expect(idle.calls == 0)
        queue.takeTurns(3)
        #expect(idle.calls == 1)
        #expect(busy.done == 30)
    }

    private func repeated(_ name: String, _ count: Int) -> [String] { Array(repeating: name, count: count) }
}

extension TurnQueue {
    fileprivate func takeTurns(_ count: Int) { for _ in 0..<count { takeTurn() } }
}

/// A clock, and the calls that a queue asks for.
private final class Clock {
    var now = NIODeadline.uptimeNanoseconds(1_000_000)
    var calls = 0
    var log: [String] = []
    private var endings: [() -> Void] = []

    /// A queue whose turns take 100 ns.
    func queue() -> TurnQueue {
        TurnQueue(
            turn: .nanoseconds(100), now: { self.now }, callBack: { self.calls += 1 },
            atEndOfIteration: { self.endings.append($0) })
    }

    func endIteration() {
        for ending in endings { ending() }
        endings = []
    }
}

/// Work whose parts take 10 ns each.
private final class Work: PeerWork {
    private let clock: Clock
    private let name: String
    private let parts: Int
    private let partsAtOnce: Int
    private let duration: Int64
    private let isWorkedOut: Bool
    private(set) var done = 0
    private(set) var calls = 0

    init(
        _ clock: Clock, name: String = "", parts: Int, partsAtOnce: Int = 1000, duration: Int64 = 10,
        isWorkedOut: Bool = false
    ) {
        self.clock = clock
        self.name = name
        self.parts = parts
        self.partsAtOnce = partsAtOnce
        self.duration = duration
        self.isWorkedOut = isWorkedOut
    }

    var hasWork: Bool { done < parts }

    func work(in turn: inout PeerTurn) {
        calls += 1
        for _ in 0..<partsAtOnce where hasWork {
            done += 1
            clock.log.append(name)
            clock.now = clock.now + .nanoseconds(duration)
            if isWorkedOut { turn.shorten() }
            if turn.isOver(at: clock.now) { return }
        }
    }
}
