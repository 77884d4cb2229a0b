internal import NIOCore

/// Limits how much work runs at the same time, for code on one actor. There is a number of places, and a member may have as many of them as
/// are free.
///
/// So a member that is alone has half of the places, and the next one half of what is left. When some of their work has ended, all members
/// with enough work have equally many, and as many are free for one more. What is beyond the limit waits; the work of one member begins in
/// order of arrival.
final class ConcurrencyLimit<Member: Hashable> {
    private struct Waiter {
        /// The number of the request, by which the oldest is found.
        let number: UInt64
        let wait: QueuedWait
    }

    private var free: Int
    /// The work of each member that runs. A member without any has no entry.
    private(set) var running: [Member: Int] = [:]
    private var waiting: [Member: CircularBuffer<Waiter>] = [:]
    /// The members in whose places requests begin that have waited, by their numbers.
    private var beginning: [UInt64: Member] = [:]
    private var lastNumber: UInt64 = 0

    init(places: Int) { free = places }

    /// How much work waits.
    var waitingCount: Int { Set(waiting.values.joined().filter(\.wait.isWaiting).map(\.number)).count }

    /// Runs `work` when less work of a member of the request runs than there are free places. It is that member's work then.
    ///
    /// - Returns: nil if the request was abandoned before.
    func run<Value, Failure: Error>(
        for request: SharedRequest<Member>, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value? {
        guard let member = await place(for: request) else { return nil }
        defer { end(member) }
        return try await work()
    }

    /// Waits for a place, and returns the member that has it; nil if the request was abandoned before.
    private func place(for request: SharedRequest<Member>) async -> Member? {
        guard !request.isAbandoned else { return nil }
        if let member = request.members.first(where: admits) {
            begin(member)
            return member
        }
        lastNumber += 1
        let number = lastNumber
        // The work has begun when its wait ends, so that no other work comes between.
        let isGranted = await request.wait { wait, member in
            self.waiting[member, default: CircularBuffer()].append(Waiter(number: number, wait: wait))
            self.beginWaiting()
        }
        guard isGranted else { return nil }
        return beginning.removeValue(forKey: number) ?? request.first
    }

    private func admits(_ member: Member) -> Bool { running[member, default: 0] < free }

    private func begin(_ member: Member) {
        running[member, default: 0] += 1
        free -= 1
    }

    private func end(_ member: Member) {
        running[member] = running[member].flatMap { $0 > 1 ? $0 - 1 : nil }
        free += 1
        beginWaiting()
    }

    /// Begins the work for which there are places. A place may go to another member, and the one that had it may have another instead.
    private func beginWaiting() {
        while let next = nextMember, let waiter = waiting[next]?.removeFirst() {
            if waiting[next]?.isEmpty == true { waiting[next] = nil }
            // A shared request may have begun in the place of another member, and any may have been abandoned.
            guard waiter.wait.isWaiting else { continue }
            begin(next)
            beginning[waiter.number] = next
            _ = waiter.wait.grant()
        }
    }

    /// The member whose work is next: of those that a free place admits, the one with the least work that runs; of several, the one that has
    /// waited longest. Nil if no work can begin.
    private var nextMember: Member? {
        waiting.filter { admits($0.key) }.min { rank($0.key, $0.value) < rank($1.key, $1.value) }?.key
    }

    private func rank(_ member: Member, _ waiters: CircularBuffer<Waiter>) -> (Int, UInt64) {
        (running[member, default: 0], waiters.first?.number ?? 0)
    }
}
