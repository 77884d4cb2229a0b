/// Limits how much work of each member runs at the same time, for code on one actor. What is beyond the limit waits, in order of arrival,
/// and the work of other members does not wait for it.
final class ConcurrencyLimit<Member: Hashable> {
    private let limit: Int
    /// The work of each member that runs. A member without any has no entry.
    private var running: [Member: Int] = [:]
    private var waiting: [Member: [CheckedContinuation<Void, Never>]] = [:]

    init(_ limit: Int) { self.limit = limit }

    /// Runs `work` when less work of the member runs than the limit allows.
    func run<Value, Failure: Error>(
        for member: Member, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if running[member, default: 0] < limit {
            running[member, default: 0] += 1
        } else {
            // `release` leaves its place to the next waiter, so that no other work comes between.
            await withCheckedContinuation { waiting[member, default: []].append($0) }
        }
        defer { release(member) }
        return try await work()
    }

    private func release(_ member: Member) {
        guard var waiters = waiting[member], !waiters.isEmpty else {
            running[member] = running[member].flatMap { $0 > 1 ? $0 - 1 : nil }
            return
        }
        let next = waiters.removeFirst()
        waiting[member] = waiters.isEmpty ? nil : waiters
        next.resume()
    }
}
