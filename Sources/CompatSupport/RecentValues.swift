public import Synchronization

/// A small cache of values by what they were made of: apps request the same token before every call.
///
/// Values are searched without the lock, which is held only while a reference is copied or a value is added.
///
/// Public and inlinable, since generic code of another module is not specialised otherwise, and looks up its types at
/// each call. No product exports this module.
public final class RecentValues<Key: Equatable & Sendable, Value: Sendable>: Sendable {
    /// An object, so that a search copies one reference for each entry.
    @usableFromInline final class Entry: Sendable {
        @usableFromInline let key: Key
        @usableFromInline let value: Value

        @usableFromInline init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The newest last.
    @usableFromInline let entries = Mutex<[Entry]>([])
    @usableFromInline let limit: Int

    /// Creates an empty list.
    ///
    /// - Parameter limit: the number of values that are kept; most apps use one account, and few tokens in turn.
    public init(limit: Int = 8) {
        self.limit = limit
    }

    /// Returns the value for a key: the one that is kept, or else the one that `make` returns, which is kept.
    ///
    /// - Throws: what `make` throws; nothing is kept then.
    @inlinable public func value<Failure: Error>(
        for key: Key, make: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        for entry in entries.withLock({ $0 }) where entry.key == key { return entry.value }
        let value = try make()
        entries.withLock { entries in
            if entries.count >= limit { entries.removeFirst() }
            entries.append(Entry(key: key, value: value))
        }
        return value
    }
}
