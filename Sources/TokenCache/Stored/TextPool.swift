internal import TokenModel

/// Values that many records of a store have in common, such as hosts, tenants and scopes: equal ones are made once, and share their
/// memory.
///
/// A table of fixed size, in which a new value takes the place of another one: whatever the store contains, the pool does not grow.
/// Used on one thread at a time.
package final class TextPool {
    private var texts = Pool<String>()
    private var clientIDs = Pool<ClientID?>()
    private var homeAccountIDs = Pool<HomeAccountID?>()
    private var scopes = Pool<ScopeSet>()

    package init() {}

    /// - Parameter isShared: whether equal values share their memory. A pool without sharing holds nothing.
    init(isShared: Bool) {
        guard !isShared else { return }
        texts = Pool(size: 0)
        clientIDs = Pool(size: 0)
        homeAccountIDs = Pool(size: 0)
        scopes = Pool(size: 0)
    }

    func text(_ bytes: UnsafeRawBufferPointer) -> String { texts.value(of: bytes) { $0 } }

    func clientID(_ bytes: UnsafeRawBufferPointer) -> ClientID? { clientIDs.value(of: bytes, ClientID.init) }

    func homeAccountID(_ bytes: UnsafeRawBufferPointer) -> HomeAccountID? {
        homeAccountIDs.value(of: bytes, HomeAccountID.init)
    }

    func scopes(_ bytes: UnsafeRawBufferPointer) -> ScopeSet { scopes.value(of: bytes, ScopeSet.init(target:)) }
}

private struct Pool<Value> {
    /// Empty until there is a value.
    private var entries: [(text: String, value: Value)?] = []
    /// A power of two, or 0.
    private let size: Int

    init(size: Int = 512) { self.size = size }

    mutating func value(of bytes: UnsafeRawBufferPointer, _ make: (String) -> Value) -> Value {
        guard size > 0 else { return make(String(decoding: bytes, as: UTF8.self)) }
        if entries.isEmpty { entries = Array(repeating: nil, count: size) }
        let index = Self.hash(bytes) & (size - 1)
        if let entry = entries[index], Self.isEqual(entry.text, bytes) { return entry.value }
        let text = String(decoding: bytes, as: UTF8.self)
        let value = make(text)
        // A long text is not shared, so that the pool stays small.
        if bytes.count <= Self.longest { entries[index] = (text, value) }
        return value
    }

    private static func isEqual(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { utf8 in
            UnsafeRawBufferPointer(utf8).hasSameBytes(as: bytes)
        } ?? text.utf8.elementsEqual(bytes)
    }

    /// FNV-1a. Collisions cost time only.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }

    private static var longest: Int { 512 }
}
