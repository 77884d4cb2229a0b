internal import Crypto
internal import TokenModel

@testable internal import TokenStore

/// Properties that hold for the bytes of a store's files and of its keys, whatever they are. Shared with the fuzzer in Tests/Fuzz, so this
/// file does not import Testing.
///
/// Each check returns a description of the violation; nil if there is none.
enum StoreImageProperties {
    /// - Parameter bytes: the first two bytes select how many of the others are the database; the rest is its write-ahead log. All are
    ///   read as an envelope and as the text of keys besides.
    static func broken(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 2 else { return nil }
        let content = Array(bytes[2...])
        let length = min((Int(bytes[0]) << 8 | Int(bytes[1])), content.count)
        return brokenEnvelope(content) ?? brokenSeal(content) ?? brokenLog(Array(content[length...]))
            ?? brokenImage(Array(content[..<length]), Array(content[length...])) ?? brokenKeys(content)
    }

    /// An envelope has the bytes that it was read from, and nobody without the key has sealed it.
    private static func brokenEnvelope(_ bytes: [UInt8]) -> String? {
        guard let envelope = Envelope(bytes) else { return nil }
        guard envelope.bytes == bytes, Envelope.length(of: bytes[...]) == bytes.count,
            bytes.count <= Envelope.limit
        else { return "an envelope of \(bytes.count) bytes is not itself" }
        if let wrapped = WrappedKey(envelope) {
            if wrapped.source == .passphrase, wrapped.scrypt == nil { return "a passphrase without parameters" }
            if let scrypt = wrapped.scrypt, scrypt.logCost > 18 || scrypt.blockSize > 8 || scrypt.parallelism != 1 {
                return "the parameters \(scrypt)"
            }
            if wrapped.open(with: key) != nil { return "a key that was never wrapped" }
        }
        if let record = SealedRecord(envelope) {
            guard record.sequence > 0 else { return "the sequence number \(record.sequence)" }
            guard WrappedKey(envelope) == nil else { return "an envelope of two kinds" }
        }
        return envelope.open(with: key) == nil ? nil : "an envelope that was never sealed"
    }

    /// What is sealed is found again, and not if a byte of it has been changed.
    private static func brokenSeal(_ content: [UInt8]) -> String? {
        let head = Array((content + [UInt8](repeating: 0, count: 8)).prefix(8))
        guard let sealed = try? Envelope(.state, head: head, content: content, with: key) else { return nil }
        guard let read = Envelope(sealed.bytes), read == sealed, read.head.elementsEqual(head),
            read.open(with: key) == content
        else { return "\(content.count) bytes are not the same after sealing" }
        var changed = sealed.bytes
        changed[content.count % changed.count] ^= 1
        return Envelope(changed)?.open(with: key) == nil ? nil : "a changed envelope is opened"
    }

    /// Every frame of a log lies in its file, in order, and SQLite uses undamaged ones only.
    private static func brokenLog(_ bytes: [UInt8]) -> String? {
        let log = WriteAheadLog(bytes)
        guard log.visible <= log.frames.count, log.frames.prefix(log.visible).allSatisfy(\.isWhole) else {
            return "\(log.visible) of \(log.frames.count) frames are visible"
        }
        var end = 0
        for frame in log.frames {
            guard frame.content.lowerBound >= end, frame.content.count == 4096, frame.content.upperBound <= bytes.count
            else { return "the frame \(frame.content) of \(bytes.count) bytes" }
            end = frame.content.upperBound
        }
        _ = log.hidesCommits
        return nil
    }

    /// The envelopes in the pages are envelopes, and together not longer than what may be read.
    private static func brokenImage(_ database: [UInt8], _ log: [UInt8]) -> String? {
        for all in [false, true] {
            let image = StoreImage(database: database, log: WriteAheadLog(log), all: all)
            let found = image.envelopes()
            let length = found.reduce(0) { $0 + $1.bytes.count }
            guard length <= 4 * (database.count + log.count) else { return "\(length) bytes of envelopes" }
            for envelope in found where Envelope(envelope.bytes) != envelope { return "an envelope is not itself" }
        }
        return nil
    }

    /// A key that was read is the same one when it is written and read again.
    private static func brokenKeys(_ bytes: [UInt8]) -> String? {
        let keys = KeyText.keys(in: bytes)
        for (index, key) in keys.enumerated() {
            guard KeyText.keys(in: KeyText.bytes(of: key)) == [key] else { return "a key changes" }
            if keys[..<index].contains(key) { return "a key is there twice" }
        }
        return nil
    }

    private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
}
