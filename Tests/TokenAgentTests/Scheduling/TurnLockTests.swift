internal import TestSupport
internal import Testing

@testable internal import TokenAgent

/// Exclusive locks for which members take turns.
@Suite(.bounded) struct TurnLockTests {
    private let members = Members()

    @Test func grantsTheRequestsOfOneMemberInOrder() async throws {
        for number in 0..<5 { await members.request("a\(number)", of: 1) }
        try await members.finish()
        #expect(await members.order == ["a0", "a1", "a2", "a3", "a4"])
    }

    /// One request of a member waits for one of each other member, however many these have.
    @Test func letsMembersTakeTurns() async throws {
        for number in 0..<4 { await members.request("a\(number)", of: 1) }
        for number in 0..<2 { await members.request("b\(number)", of: 2) }
        await members.request("c0", of: 3)
        try await members.finish()
        #expect(await members.order == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"])
    }

    /// A shared request is granted once, and the other requests of both members have their turns after it.
    @Test func grantsASharedRequestInTheFirstTurnOfItsMembers() async throws {
        for number in 0..<4 { await members.request("a\(number)", of: 1) }
        await members.share("a3", with: 2)
        await members.request("b0", of: 2)
        await members.share("a0", with: 3)
        try await members.finish()
        #expect(await members.order == ["a0", "a1", "a3", "a2", "b0"])
    }

    @Test func grantsNoRequestThatWasAbandonedWhileItWaited() async throws {
        for number in 0..<4 { await members.request("a\(number)", of: 1) }
        // The first one has been granted.
        for name in ["a0", "a1", "a3"] { await members.abandon(name) }
        try await members.finish()
        #expect(await members.order == ["a0", "a2"])
        #expect(await members.refused == ["a1", "a3"])
        await members.request("b0", of: 2)
        #expect(await members.order == ["a0", "a2", "b0"])
    }

    @Test func grantsAnotherKeyAtOnce() async throws {
        await members.request("a0", of: 1)
        await members.request("other", of: 1, key: 2)
        await members.settle()
        #expect(await members.order == ["a0", "other"])
        try await members.finish()
    }

    @Test func tellsWhoHadToWait() async throws {
        for number in 0..<2 { await members.request("a\(number)", of: 1) }
        try await members.finish()
        #expect(await members.waited == ["a1"])
    }

    @Test func isFreeAfterAnError() async throws {
        await members.fail(of: 1)
        await members.request("a0", of: 2)
        try await members.finish()
        #expect(await members.order == ["a0"])
        #expect(await members.waited.isEmpty)
    }
}

/// Requests for a lock, each of which holds it until all are granted or waiting.
private actor Members {
    private let lock = TurnLock<Int, Int>()
    private(set) var order: [String] = []
    private(set) var waited: [String] = []
    private(set) var refused: Set<String> = []
    private var tasks: [Task<Void, Never>] = []
    private var requests: [String: SharedRequest<Int>] = [:]
    private var isOpen = false

    func request(_ name: String, of member: Int, key: Int = 1) async {
        tasks.append(Task { await hold(name, member, key) })
        await settle()
    }

    /// Adds a member to a request.
    func share(_ name: String, with member: Int) { requests[name]?.add(member) }

    func abandon(_ name: String) { requests[name]?.abandon() }

    /// Holds the key until an error.
    func fail(of member: Int) async {
        let request = SharedRequest(member)
        _ = try? await lock.exclusive(1, for: request) { _ async throws(CancellationError) in throw CancellationError()
        }
    }

    /// Lets every holder continue, and waits until all requests have been granted.
    func finish() async throws {
        isOpen = true
        for task in tasks { await task.value }
    }

    func settle() async { for _ in 0..<50 { await Task.yield() } }

    private func hold(_ name: String, _ member: Int, _ key: Int) async {
        let request = SharedRequest(member)
        requests[name] = request
        let turn: Void? = await lock.exclusive(key, for: request) { hasWaited in
            order.append(name)
            if hasWaited { waited.append(name) }
            while !isOpen { await Task.yield() }
        }
        if turn == nil { refused.insert(name) }
    }
}
