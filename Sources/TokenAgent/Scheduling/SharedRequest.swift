/// A request of one or more members, for code on one actor. It waits in the queue of each of them, and is granted once: a member that
/// shares the request of another one waits no longer than for a request of its own.
final class SharedRequest<Member: Hashable> {
    /// The member that has made the request.
    let first: Member
    private(set) var members: Set<Member>
    /// Whether the request is not needed any more.
    private(set) var isAbandoned = false
    private var queued: QueuedWait?
    /// Adds the request to the queue of another member; nil unless it waits.
    private var join: ((Member) -> Void)?

    init(_ member: Member) { (first, members) = (member, [member]) }

    /// Adds a member.
    func add(_ member: Member) {
        guard members.insert(member).inserted else { return }
        join?(member)
    }

    /// Whether the request is in a queue.
    var isWaiting: Bool { queued?.isWaiting ?? false }

    /// Ends the wait of the request, and those that it would begin. Has no effect on what has been granted.
    func abandon() {
        isAbandoned = true
        queued?.abandon()
    }

    /// Waits until the request is granted.
    ///
    /// - Parameter enqueue: adds the wait to the queue of a member. It is called for each member, also for those that are added while the
    ///   request waits.
    /// - Returns: false if the request was abandoned before.
    func wait(_ enqueue: @escaping (_ wait: QueuedWait, _ member: Member) -> Void) async -> Bool {
        guard !isAbandoned else { return false }
        let wait = QueuedWait()
        queued = wait
        join = { enqueue(wait, $0) }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            wait.continuation = continuation
            for member in members { enqueue(wait, member) }
        }
        (queued, join) = (nil, nil)
        return wait.isGranted
    }
}

/// The wait of a request, which may be in several queues.
final class QueuedWait {
    fileprivate var continuation: CheckedContinuation<Void, Never>?
    fileprivate private(set) var isGranted = false

    /// Whether the request has been neither granted nor abandoned.
    var isWaiting: Bool { continuation != nil }

    /// Grants the request, which resumes.
    ///
    /// - Returns: false if it has been granted already, in another queue, or was abandoned.
    func grant() -> Bool {
        guard isWaiting else { return false }
        isGranted = true
        resume()
        return true
    }

    fileprivate func abandon() { resume() }

    private func resume() {
        continuation?.resume()
        continuation = nil
    }
}
