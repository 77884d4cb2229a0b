internal import TokenModel

/// Reads the fields of a packed record (`FieldWriter`) in the order of their numbers, without an allocation of its own.
///
/// Fields that are not asked for are skipped: a later version may write more. A record that ends within a field, or whose fields are
/// out of order, is damaged: see `isWhole`.
package struct FieldReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 1
    private var last: UInt8 = 0
    private var isDamaged = false
    let texts: TextPool
    private let leavesOutTokens: Bool

    /// Returns nil if the bytes are no packed record.
    ///
    /// - Parameters:
    ///   - bytes: have to stay valid while the reader is used.
    ///   - leavesOutTokens: whether tokens are skipped, and need not be there: the record is read as an unread one.
    init?(_ bytes: UnsafeRawBufferPointer, _ texts: TextPool, leavesOutTokens: Bool = false) {
        guard bytes.first == FieldWriter.mark else { return nil }
        self.bytes = bytes
        self.texts = texts
        self.leavesOutTokens = leavesOutTokens
    }

    /// Whether the rest of the record can be read, too.
    var isWhole: Bool {
        mutating get {
            while let number = nextNumber { _ = value(of: number) }
            return !isDamaged
        }
    }

    /// Reads a text that other records do not share, such as a name.
    mutating func text(_ field: PackedField) -> String? {
        bytes(field).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A text that many records have in common.
    mutating func sharedText(_ field: PackedField) -> String? { bytes(field).map { texts.text($0) } }

    mutating func number(_ field: PackedField) -> Int64? {
        guard let value = bytes(field) else { return nil }
        guard value.count == 8 else {
            isDamaged = true
            return nil
        }
        return Int64(bigEndian: value.loadUnaligned(as: Int64.self))
    }

    /// A time that a record may hold; nil if there is none, or it is an impossible one.
    mutating func time(_ field: PackedField) -> Int64? { RecordTime.checked(number(field)) }

    /// A token; an unread one if the reader leaves out tokens.
    mutating func token(_ field: PackedField) -> Secret? {
        let value = bytes(field)
        return leavesOutTokens ? .unread : value.map { Secret(bytes: $0) }
    }

    /// A token that records have as text; empty if the reader leaves out tokens.
    mutating func tokenText(_ field: PackedField) -> String? {
        let value = bytes(field)
        return leavesOutTokens ? "" : value.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The value of a field; of one that a record may have several times, the next. Nil if there is none, or no further one.
    mutating func bytes(_ field: PackedField) -> UnsafeRawBufferPointer? {
        while let number = nextNumber, number <= field.rawValue {
            let value = value(of: number)
            if number == field.rawValue { return value }
        }
        return nil
    }

    /// The number of the next field; nil at the end, or if the record is damaged.
    private var nextNumber: UInt8? { isDamaged || offset >= bytes.count ? nil : bytes[offset] }

    /// Reads the next field.
    private mutating func value(of number: UInt8) -> UnsafeRawBufferPointer? {
        var (length, shift, start) = (0, 0, offset + 1)
        repeat {
            guard start < bytes.count, shift <= 28 else {
                isDamaged = true
                return nil
            }
            length |= Int(bytes[start] & 0x7F) << shift
            shift += 7
            start += 1
        } while bytes[start - 1] & 0x80 != 0
        guard number >= last, length <= bytes.count - start else {
            isDamaged = true
            return nil
        }
        last = number
        offset = start + length
        return UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
    }
}
