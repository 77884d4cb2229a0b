internal import Crypto

/// A digest of a set of records that a change of one record changes in one step: the XOR of a keyed hash of each.
///
/// Sound because nobody without the key knows the hashes: whoever did could solve for a set that gives the same sum.
struct SetDigest: Sendable, Equatable {
    private var words: SIMD4<UInt64> = .zero

    init() {}

    init?(_ reader: inout ByteReader) {
        for index in 0..<4 {
            guard let word = reader.number(UInt64.self) else { return nil }
            words[index] = word
        }
    }

    /// Of one record.
    init(_ id: RecordID, _ sequence: Int64, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(id)
        name.append(number: sequence)
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.digest))[...])
        for index in 0..<4 { words[index] = reader.number(UInt64.self) ?? 0 }
    }

    /// Takes a record in; a second time, out.
    mutating func toggle(_ id: RecordID, _ sequence: Int64, _ keys: StoreKeys.Derived) {
        toggle(SetDigest(id, sequence, keys))
    }

    /// The same for a record whose digest is known.
    mutating func toggle(_ record: SetDigest) { words ^= record.words }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<4 { bytes.append(number: words[index]) }
        return bytes
    }
}
