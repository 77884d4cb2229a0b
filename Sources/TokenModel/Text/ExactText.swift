#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A text that equals only a text of the same bytes.
///
/// Strings are equal if they are canonically equivalent (Unicode Standard Annex #15): `é` is one character or two, and the sign of the
/// unit Kelvin is a `K`. Identity providers compare bytes, so that requests that differ in such a way may have different answers.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String {
    /// Hashes the bytes: the hash of `String` is equal for all canonically equivalent texts, of which there may be very many.
    package func hashBytes(into hasher: inout Hasher) {
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isDone == nil { for byte in utf8 { hasher.combine(byte) } }
        // No text ends with it, so that texts that follow one another hash as themselves.
        hasher.combine(UInt8(0xFF))
    }

    /// Whether the bytes of this text come before those of the other one, as in a dictionary.
    package func precedes(_ other: String) -> Bool {
        let order: Bool?? = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                let shared = min(left.count, right.count)
                guard shared > 0, let start = left.baseAddress, let otherStart = right.baseAddress else {
                    return left.count < right.count
                }
                let order = memcmp(start, otherStart, shared)
                return order != 0 ? order < 0 : left.count < right.count
            }
        }
        return (order ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// Whether the bytes of the texts are equal, and not only the characters.
    package func hasSameBytes(as other: String) -> Bool {
        let areSame: Bool?? = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                UnsafeRawBufferPointer(left).hasSameBytes(as: UnsafeRawBufferPointer(right))
            }
        }
        return (areSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are equal. `elementsEqual` compares them one by one.
    package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, count) == 0
    }
}

extension String? {
    /// Whether both are nil, or neither is and their bytes are equal.
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        default: false
        }
    }
}

extension [String] {
    /// Whether the bytes of each text are equal.
    package func hasSameBytes(as other: [String]) -> Bool {
        guard count == other.count else { return false }
        for index in indices where !self[index].hasSameBytes(as: other[index]) { return false }
        return true
    }
}

extension [String: String] {
    /// Whether the bytes of each key and value are equal.
    package func hasSameBytes(as other: [String: String]) -> Bool {
        guard count == other.count else { return false }
        for (key, value) in self {
            guard let index = other.index(forKey: key), other[index].key.hasSameBytes(as: key),
                other[index].value.hasSameBytes(as: value)
            else { return false }
        }
        return true
    }
}
