internal import Crypto

/// The owner of a record, as a tag in the authenticated head of its envelope: the records of one account are found
/// without opening all others.
///
/// A keyed hash of group and account, of which 16 bits are kept. Some records of other accounts have the same tag,
/// which costs time only.
struct OwnerTag: Sendable, Hashable {
    let number: UInt16

    static let count = 2
    /// Records that are found for every account.
    static let everyone = OwnerTag(number: 0)
    static let nobody = OwnerTag(number: 1)

    init(number: UInt16) { self.number = number }

    /// Nil if the owner is not known.
    init?(_ owner: RecordOwner, in group: String, _ keys: StoreKeys.Derived) {
        switch owner {
        case .unknown: return nil
        case .everyone: self = .everyone
        case .nobody: self = .nobody
        case .account(let account): self.init(account, in: group, keys)
        }
    }

    init(_ account: String, in group: String, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(counted: group.utf8)
        name.append(counted: account.utf8)
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.owners))[...])
        // 0 and 1 are the tags of `everyone` and `nobody`.
        number = 2 + (reader.number(UInt16.self) ?? 0) % (.max - 1)
    }

    /// The tag in the first bytes of a sealed record; nil if it has none.
    init?(sealed bytes: UnsafeRawBufferPointer) {
        let start = Envelope.prefixCount + RecordID.count + 8
        guard bytes.count >= start + Self.count, bytes[2] == Envelope.Kind.ownedRecord.rawValue else { return nil }
        number = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
    }
}

extension RecordOwner {
    /// Reads the account from the content of a record; nil if the content is too short.
    init?(_ tag: OwnerTag?, _ reader: inout ByteReader) {
        guard let tag else {
            self = .unknown
            return
        }
        guard let account = reader.counted() else { return nil }
        switch tag {
        case .everyone: self = .everyone
        case .nobody: self = .nobody
        default: self = .account(String(decoding: account, as: UTF8.self))
        }
    }
}
