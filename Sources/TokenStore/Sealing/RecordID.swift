internal import Crypto

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A record's identity on disk: a keyed hash of its name, which says nothing to whoever lacks the key.
struct RecordID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    static let count = 16

    init(_ key: RecordKey, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(counted: key.group.utf8)
        name.append(number: key.kind.rawValue)
        name.append(counted: key.key.utf8)
        // Half of it is more than enough for names never to meet.
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.naming))[...])
        high = reader.number() ?? 0
        low = reader.number() ?? 0
    }

    init?(_ reader: inout ByteReader) {
        guard let high = reader.number(UInt64.self), let low = reader.number(UInt64.self) else { return nil }
        (self.high, self.low) = (high, low)
    }
}

extension [UInt8] {
    mutating func append(_ id: RecordID) {
        append(number: id.high)
        append(number: id.low)
    }
}
