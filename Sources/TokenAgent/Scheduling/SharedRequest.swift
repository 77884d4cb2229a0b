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

    /// Waits until the request is granted.
    ///
    /// - Parameter enqueue: adds the wait to the queue of a member. It is called for each member, also for those that are added while the
    ///   request waits.
    func wait(_ enqueue: @escaping (_ wait: QueuedWait, _ member: Member) -> Void) async {
        let queued = QueuedWait()
        join = { enqueue(queued, $0) }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queued.continuation = continuation
            for member in members { enqueue(queued, member) }
        }
        join = nil
    }
}

/// The wait of a request, which may be in several queues.
final class QueuedWait {
    fileprivate var continuation: CheckedContinuation<Void, Never>?

    /// Whether the request has not been granted yet.
    var isWaiting: Bool { continuation != nil }

    /// Resumes the request.
    ///
    /// - Returns: false if it has been granted already, in another queue.
    func end() -> Bool {
        guard let continuation else { return false }
        self.continuation = nil
        continuation.resume()
        return true
    }
}
