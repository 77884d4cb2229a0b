/// Read-write locks, one for each key, for code on one actor: a key has any number of shared holders, or one exclusive holder.
///
/// Requests are granted in order of arrival: a shared request waits behind an exclusive request that came earlier. Code that
/// acquires several keys has to acquire them in the same order everywhere, or it may deadlock.
///
/// The first lock of each kind of key is slow to make, so that those are `lazy` that the start does not need
/// (docs/decisions/0056-what-a-start-costs.md).
final class KeyedLock<Key: Hashable> {
    private enum Mode {
        case shared
        case exclusive
    }

    private struct Entry {
        var sharedHolders = 0
        var isExclusive = false
        var waiters: [(mode: Mode, continuation: CheckedContinuation<Void, Never>)] = []

        var isHeld: Bool { isExclusive || sharedHolders > 0 }

        /// Whether the key can be acquired now, regardless of waiters.
        func admits(_ mode: Mode) -> Bool {
            switch mode {
            case .shared: !isExclusive
            case .exclusive: !isHeld
            }
        }

        mutating func acquire(_ mode: Mode) {
            switch mode {
            case .shared: sharedHolders += 1
            case .exclusive: isExclusive = true
            }
        }

        mutating func release(_ mode: Mode) {
            switch mode {
            case .shared: sharedHolders -= 1
            case .exclusive: isExclusive = false
            }
        }
    }

    private var entries: [Key: Entry] = [:]
    private var releaseWaiters: [Key: [CheckedContinuation<Void, Never>]] = [:]

    /// The keys that are held, shared or exclusively.
    var heldKeys: Set<Key> { Set(entries.keys) }

    /// Whether the key is held, shared or exclusively.
    func isHeld(_ key: Key) -> Bool { entries[key] != nil }

    /// Whether the key is held exclusively.
    func isHeldExclusively(_ key: Key) -> Bool { entries[key]?.isExclusive == true }

    /// Runs `work` while it holds the key with other shared holders.
    func shared<Value, Failure: Error>(
        _ key: Key, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await acquire(key, .shared)
        defer { release(key, .shared) }
        return try await work()
    }

    /// Runs `work` while it is the only holder of the key.
    func exclusive<Value, Failure: Error>(
        _ key: Key, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await acquire(key, .exclusive)
        defer { release(key, .exclusive) }
        return try await work()
    }

    /// Waits until the key has no holder and no waiter; returns immediately if it has none now.
    func waitUntilReleased(_ key: Key) async {
        guard isHeld(key) else { return }
        await withCheckedContinuation { releaseWaiters[key, default: []].append($0) }
    }

    private func acquire(_ key: Key, _ mode: Mode) async {
        var entry = entries[key] ?? Entry()
        if entry.waiters.isEmpty, entry.admits(mode) {
            entry.acquire(mode)
            entries[key] = entry
            return
        }
        // `release` acquires the key for the waiter before it resumes, so that no other request comes between.
        await withCheckedContinuation { entries[key]?.waiters.append((mode, $0)) }
    }

    private func release(_ key: Key, _ mode: Mode) {
        guard var entry = entries[key] else { return }
        entry.release(mode)
        while let next = entry.waiters.first, entry.admits(next.mode) {
            entry.waiters.removeFirst()
            entry.acquire(next.mode)
            next.continuation.resume()
        }
        guard !entry.isHeld else { return entries[key] = entry }
        entries[key] = nil
        for continuation in releaseWaiters.removeValue(forKey: key) ?? [] { continuation.resume() }
    }
}
