internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The common format of everything sealed: a mark, the total length, an authenticated head in plain text, and the encrypted
/// content (AES-256-GCM with a random nonce; mark, length and head are the associated data).
///
/// With the mark and the length, envelopes can be found in a file that is not a valid database any more.
struct Envelope: Sendable, Equatable {
    enum Kind: UInt8, Sendable {
        /// A record as version 2 sealed it, without the tag of its account.
        case record = 1
        case state = 2
        case key = 3
        case taggedRecord = 4

        var headCount: Int? {
            switch self {
            case .record: RecordID.count + 8
            case .taggedRecord: RecordID.count + 8 + AccountTag.count
            case .state: 8
            // The first byte of the head is its length.
            case .key: nil
            }
        }
    }

    let kind: Kind
    let head: ArraySlice<UInt8>
    /// The whole envelope, as on disk.
    let bytes: [UInt8]
    private let sealedStart: Int

    /// Encrypts `content`.
    init(_ kind: Kind, head: [UInt8], content: some DataProtocol, with key: SymmetricKey) throws(TokenError) {
        let count = Self.prefixCount + head.count + Self.overhead + content.count
        guard count <= Self.limit else {
            throw TokenError(.storeUnavailable, "a record of \(content.count) bytes is too big for the store")
        }
        var bytes = Self.mark(kind)
        bytes.append(number: UInt32(count))
        bytes += head
        do {
            let box = try AES.GCM.seal(content, using: key, authenticating: bytes)
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            bytes += combined
        } catch {
            throw TokenError(.internalError, "a record could not be sealed")
        }
        self.kind = kind
        self.head = bytes[Self.prefixCount..<Self.prefixCount + head.count]
        self.bytes = bytes
        sealedStart = Self.prefixCount + head.count
    }

    /// Parses an envelope; nil if the bytes cannot be one. Only `open` checks whether it is authentic.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.prefixCount, bytes.count == Self.length(of: bytes[...]),
            let kind = Kind(rawValue: bytes[2])
        else { return nil }
        let headCount = kind.headCount ?? (bytes.count > Self.prefixCount ? Int(bytes[Self.prefixCount]) : 0)
        guard bytes.count >= Self.prefixCount + headCount + Self.overhead else { return nil }
        self.kind = kind
        head = bytes[Self.prefixCount..<Self.prefixCount + headCount]
        self.bytes = bytes
        sealedStart = Self.prefixCount + headCount
    }

    /// Decrypts the content; nil if the key is wrong or the envelope has been changed.
    func open(with key: SymmetricKey) -> [UInt8]? { open(with: key) { Array($0) } }

    /// Passes the decrypted content to `body`, and wipes it afterwards; nil if the key is wrong or the envelope has been changed.
    func open<Result>(with key: SymmetricKey, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard let box = try? AES.GCM.SealedBox(combined: bytes[sealedStart...]),
            var content = try? AES.GCM.open(box, using: key, authenticating: bytes[..<sealedStart])
        else { return nil }
        defer { content.wipe() }
        return content.withUnsafeBytes(body)
    }

    /// The length of the envelope that starts with `bytes`; nil if none does.
    static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        var reader = ByteReader(bytes)
        guard let mark = reader.bytes(4), let kind = Kind(rawValue: mark[mark.startIndex + 2]),
            mark.elementsEqual(Self.mark(kind)), let length = reader.number(UInt32.self), length <= UInt32(limit)
        else { return nil }
        return Int(length)
    }

    /// A byte that is not valid UTF-8, so that no text looks like a mark; an S; the kind; the version of the format.
    private static func mark(_ kind: Kind) -> [UInt8] { [0xA7, 0x53, kind.rawValue, 0x02] }

    /// Whether there is a mark of any kind.
    ///
    /// - Parameter bytes: have at least `prefixCount` from `start` on.
    static func mayBegin(in bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        bytes[start] == 0xA7 && bytes[start + 1] == 0x53 && bytes[start + 3] == 0x02
    }

    static let prefixCount = 8
    /// The length of the nonce and the tag.
    private static let overhead = 12 + 16
    /// The length of the longest envelope. The longest token has 256 KiB.
    static let limit = 16 << 20
    /// The maximum length of a record's content, with some bytes for the lengths of its parts.
    static let longestRecord = limit - 256
}
