internal import Crypto
internal import TokenModel

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The common form of everything sealed: a mark, the length of it all, a head that anyone may read and nobody may
/// change, and the sealed content (AES-256-GCM with a random nonce; the head is its associated data).
///
/// The mark and the length make envelopes findable in a file that is no database any more.
struct Envelope: Sendable, Equatable {
    enum Kind: UInt8, Sendable {
        case record = 1
        case state = 2
        case key = 3

        var headCount: Int? {
            switch self {
            case .record: RecordID.count + 8
            case .state: 8
            // Its own first byte says.
            case .key: nil
            }
        }
    }

    let kind: Kind
    let head: ArraySlice<UInt8>
    /// All of it, as on disk.
    let bytes: [UInt8]
    private let sealedStart: Int

    /// Seals `content`.
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

    /// Takes bytes for an envelope, if they could be one; whether it is genuine only `open` can say.
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

    /// The content; nil when the key is not the right one or a bit of it has changed.
    func open(with key: SymmetricKey) -> [UInt8]? { open(with: key) { Array($0) } }

    /// Lends the content for the time of `body`; then it is wiped.
    func open<Result>(with key: SymmetricKey, _ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        guard let box = try? AES.GCM.SealedBox(combined: bytes[sealedStart...]),
            var content = try? AES.GCM.open(box, using: key, authenticating: bytes[..<sealedStart])
        else { return nil }
        defer { content.wipe() }
        return content.withUnsafeBytes(body)
    }

    /// The length of the envelope that begins here, if one does.
    static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        var reader = ByteReader(bytes)
        guard let mark = reader.bytes(4), mark.elementsEqual([0xA7, 0x53, mark[mark.startIndex + 2], 0x02]),
            Kind(rawValue: mark[mark.startIndex + 2]) != nil, let length = reader.number(UInt32.self),
            length <= UInt32(limit)
        else { return nil }
        return Int(length)
    }

    /// Not UTF-8, so that no text is taken for it; an S; what it is; the version of the form.
    private static func mark(_ kind: Kind) -> [UInt8] { [0xA7, 0x53, kind.rawValue, 0x02] }

    static let prefixCount = 8
    /// Nonce and tag.
    private static let overhead = 12 + 16
    /// The largest record by far is a token of 256 KiB.
    static let limit = 16 << 20
}
