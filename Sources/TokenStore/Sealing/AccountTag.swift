internal import Crypto

/// The account of a record, as a tag in the authenticated head of its envelope: the records of one account are found
/// without opening all others.
///
/// A keyed hash of group and account, of which 16 bits are kept. Some records of other accounts have the same tag,
/// which costs time only.
struct AccountTag: Sendable, Hashable {
    let number: UInt16

    static let count = 2
    /// Records that are found for every account.
    static let everyAccount = AccountTag(number: 0)
    /// Records that are found for no account.
    static let noAccount = AccountTag(number: 1)

    init(number: UInt16) { self.number = number }

    /// Returns nil if the account is not known.
    init?(_ account: RecordAccount, in group: String, _ keys: StoreKeys.Derived) {
        switch account {
        case .unknown: return nil
        case .everyAccount: self = .everyAccount
        case .noAccount: self = .noAccount
        case .account(let account): self.init(account, in: group, keys)
        }
    }

    init(_ account: String, in group: String, _ keys: StoreKeys.Derived) {
        var name: [UInt8] = []
        name.append(counted: group.utf8)
        name.append(counted: account.utf8)
        var reader = ByteReader(Array(HMAC<SHA256>.authenticationCode(for: name, using: keys.owners))[...])
        // 0 and 1 are the tags of `everyAccount` and `noAccount`.
        number = 2 + (reader.number(UInt16.self) ?? 0) % (.max - 1)
    }

    /// The tag in the first bytes of a sealed record; nil if it has none.
    init?(sealed bytes: UnsafeRawBufferPointer) {
        let start = Envelope.prefixCount + RecordID.count + 8
        guard bytes.count >= start + Self.count, bytes[2] == Envelope.Kind.taggedRecord.rawValue else { return nil }
        number = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
    }
}

extension RecordAccount {
    /// Reads the account from the content of a record; nil if the content is too short.
    init?(_ tag: AccountTag?, _ reader: inout ByteReader) {
        guard let tag else {
            self = .unknown
            return
        }
        guard let account = reader.counted() else { return nil }
        switch tag {
        case .everyAccount: self = .everyAccount
        case .noAccount: self = .noAccount
        default: self = .account(String(decoding: account, as: UTF8.self))
        }
    }
}
