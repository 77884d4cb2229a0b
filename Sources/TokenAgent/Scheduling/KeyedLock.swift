/// Locks by key for code that runs on one actor: a key is shared by any number of holders, or held by one exclusively.
///
/// First come, first served: whoever asks for a key after an exclusive holder that still waits, waits behind it. Holders that
/// need several keys take them in one order everywhere, or they may wait for each other.
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

        /// Whether the key can be had now, regardless of who waits.
        func admits(_ mode: Mode) -> Bool {
            switch mode {
            case .shared: !isExclusive
            case .exclusive: !isHeld
            }
        }

        mutating func take(_ mode: Mode) {
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

    /// The keys that are held, in either way.
    var heldKeys: Set<Key> { Set(entries.keys) }

    func isHeld(_ key: Key) -> Bool { entries[key] != nil }

    /// Runs `work` while nobody holds the key exclusively.
    func shared<Value, Failure: Error>(
        _ key: Key, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await acquire(key, .shared)
        defer { release(key, .shared) }
        return try await work()
    }

    /// Runs `work` while nobody else holds the key.
    func exclusive<Value, Failure: Error>(
        _ key: Key, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        await acquire(key, .exclusive)
        defer { release(key, .exclusive) }
        return try await work()
    }

    /// Returns when the present holder of the key, and everyone who waits for it already, has released it; at once when it
    /// is free.
    func waitUntilReleased(_ key: Key) async {
        guard isHeld(key) else { return }
        await withCheckedContinuation { releaseWaiters[key, default: []].append($0) }
    }

    private func acquire(_ key: Key, _ mode: Mode) async {
        var entry = entries[key] ?? Entry()
        if entry.waiters.isEmpty, entry.admits(mode) {
            entry.take(mode)
            entries[key] = entry
            return
        }
        // The place is taken on its behalf before it resumes: nobody can slip in between.
        await withCheckedContinuation { entries[key]?.waiters.append((mode, $0)) }
    }

    private func release(_ key: Key, _ mode: Mode) {
        guard var entry = entries[key] else { return }
        entry.release(mode)
        while let next = entry.waiters.first, entry.admits(next.mode) {
            entry.waiters.removeFirst()
            entry.take(next.mode)
            next.continuation.resume()
        }
        guard !entry.isHeld else { return entries[key] = entry }
        entries[key] = nil
        for continuation in releaseWaiters.removeValue(forKey: key) ?? [] { continuation.resume() }
    }
}
