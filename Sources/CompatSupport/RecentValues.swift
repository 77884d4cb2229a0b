internal import Synchronization

/// The values that were made last, by what they were made of: apps ask for the same token before every call.
///
/// Values are searched without the lock, which is held only while a reference is copied or a value is added.
package final class RecentValues<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let key: Key
        let value: Value
    }

    /// The newest last.
    private let entries = Mutex<[Entry]>([])
    private let limit: Int

    /// - Parameter limit: most apps use one account, and few tokens in turn.
    package init(limit: Int = 8) {
        self.limit = limit
    }

    /// Returns the value for a key, which is made if it was not made lately.
    ///
    /// - Parameter make: an error of it is not kept.
    package func value<Failure: Error>(for key: Key, make: () throws(Failure) -> Value) throws(Failure) -> Value {
        for entry in entries.withLock({ $0 }) where entry.key == key { return entry.value }
        let value = try make()
        entries.withLock { entries in
            if entries.count >= limit { entries.removeFirst() }
            entries.append(Entry(key: key, value: value))
        }
        return value
    }
}
