internal import AgentTestSupport
internal import NIOCore
internal import TestSupport
internal import Testing
internal import TokenModel

@testable internal import TokenAgent

@Suite(.bounded) struct KeyedLockTests {
    @Test func letsAnyNumberShareAKey() async throws {
        let room = LockRoom()
        let first = await room.hold("a", .shared)
        let second = await room.hold("a", .shared)
        try await room.settle()
        #expect(await room.entered == ["a shared", "a shared"])
        await room.release(first)
        await room.release(second)
        try await room.settle()
        #expect(await room.isFree("a"))
    }

    @Test func admitsNoOtherHolderToAnExclusiveKey() async throws {
        let room = LockRoom()
        let first = await room.hold("a", .exclusive)
        await room.hold("a", .shared)
        await room.hold("a", .exclusive)
        try await room.settle()
        #expect(await room.entered == ["a exclusive"])
        await room.release(first)
        try await room.settle()
        #expect(await room.entered == ["a exclusive", "a shared"])
    }

    @Test func grantsAKeyInTheOrderOfRequests() async throws {
        let room = LockRoom()
        let shared = await room.hold("a", .shared)
        let exclusive = await room.hold("a", .exclusive)
        // A shared request waits behind an earlier exclusive one.
        await room.hold("a", .shared)
        try await room.settle()
        #expect(await room.entered == ["a shared"])
        await room.release(shared)
        try await room.settle()
        #expect(await room.entered == ["a shared", "a exclusive"])
        await room.release(exclusive)
        try await room.settle()
        #expect(await room.entered == ["a shared", "a exclusive", "a shared"])
    }

    @Test func locksOneKeyWithoutTheOthers() async throws {
        let room = LockRoom()
        await room.hold("a", .exclusive)
        await room.hold("b", .exclusive)
        try await room.settle()
        #expect(await room.entered == ["a exclusive", "b exclusive"])
        #expect(await room.heldKeys == ["a", "b"])
    }

    @Test func releasesAKeyWhoseHolderFails() async throws {
        let room = LockRoom()
        let first = await room.hold("a", .exclusive)
        await room.hold("a", .exclusive)
        await room.release(first, failing: true)
        try await room.settle()
        #expect(await room.entered == ["a exclusive", "a exclusive"])
    }

    @Test func waitsUntilHoldersAndWaitersHaveReleasedAKey() async throws {
        let room = LockRoom()
        let first = await room.hold("a", .exclusive)
        let second = await room.hold("a", .exclusive)
        let wait = await room.start { room in await room.lock.waitUntilReleased("a") }
        await room.release(first)
        try await room.settle()
        #expect(!wait.isDone)
        await room.release(second)
        try await wait.value()
    }

    @Test func doesNotWaitForAKeyThatIsFree() async throws {
        let room = LockRoom()
        let wait = await room.start { room in await room.lock.waitUntilReleased("a") }
        try await wait.value()
    }
}

/// Acquires and releases the keys of a lock as the test says.
private actor LockRoom {
    enum Mode: String { case shared, exclusive }

    nonisolated let parts = Parts()
    nonisolated var unownedExecutor: UnownedSerialExecutor { parts.unownedExecutor }
    let lock = KeyedLock<String>()
    private let tasks: TaskTracker
    private(set) var entered: [String] = []
    private var holders: [Int: CheckedContinuation<Bool, Never>] = [:]
    private var released: [Int: Bool] = [:]
    private var last = 0

    init() { tasks = TaskTracker(loop: parts.loop, timers: parts.timers.timers) }

    nonisolated func settle() async throws { try await parts.settle() }

    var heldKeys: Set<String> { lock.heldKeys }

    func isFree(_ key: String) -> Bool { !lock.isHeld(key) }

    @discardableResult
    func start(_ work: @escaping @Sendable (isolated LockRoom) async -> Void) -> Pending<Void> {
        Pending(tasks.start { () async throws(TokenError) in await work(self) })
    }

    /// Requests a key, and holds it until `release` is called with the returned number.
    @discardableResult
    func hold(_ key: String, _ mode: Mode) -> Int {
        last += 1
        let id = last
        start { room in
            let stay = { () async throws(TokenError) in try await room.stay(id, key, mode) }
            switch mode {
            case .shared: try? await room.lock.shared(key, stay)
            case .exclusive: try? await room.lock.exclusive(key, stay)
            }
        }
        return id
    }

    func release(_ id: Int, failing: Bool = false) {
        released[id] = failing
        holders.removeValue(forKey: id)?.resume(returning: failing)
    }

    private func stay(_ id: Int, _ key: String, _ mode: Mode) async throws(TokenError) {
        entered.append("\(key) \(mode.rawValue)")
        let fails: Bool
        if let failing = released[id] {
            fails = failing
        } else {
            fails = await withCheckedContinuation { holders[id] = $0 }
        }
        if fails { throw TokenError(.internalError, "failed on purpose") }
    }
}
