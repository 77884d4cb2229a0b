/// A request of one or more members, for code on one actor. It waits in the queue of each of them, and is granted once: a member that
/// shares the request of another one waits no longer than for a request of its own.
final class SharedRequest<Member: Hashable> {
    /// The member that has made the request.
    let first: Member
    private(set) var members: Set<Member>
    /// Adds the request to the queue of another member; nil unless it waits.
    private var join: ((Member) -> Void)?

    init(_ member: Member) { (first, members) = (member, [member]) }

    /// Adds a member.
    func add(_ member: Member) {
        guard members.insert(member).inserted else { return }
        join?(member)
    }

    /// Waits until its turn begins.
    ///
    /// - Parameter enqueue: adds the turn to the queue of a member. It is called for each member, also for those that are added while the
    ///   request waits.
    func wait(_ enqueue: @escaping (_ turn: Turn, _ member: Member) -> Void) async {
        let turn = Turn()
        join = { enqueue(turn, $0) }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            turn.continuation = continuation
            for member in members { enqueue(turn, member) }
        }
        join = nil
    }
}

/// One wait of a request, which may be in several queues.
final class Turn {
    fileprivate var continuation: CheckedContinuation<Void, Never>?

    /// Whether the turn has not begun yet.
    var isWaiting: Bool { continuation != nil }

    /// Resumes the request.
    ///
    /// - Returns: false if the turn has begun already, in another queue.
    func begin() -> Bool {
        guard let continuation else { return false }
        self.continuation = nil
        continuation.resume()
        return true
    }
}
