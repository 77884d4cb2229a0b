internal import TokenModel
internal import TokenStore

/// The records of one account without their tokens, in packed form.
///
/// For each record there is its kind, and then its fields as in the packed form that the store has (`FieldWriter`). A field that equals the
/// last one of its number, such as the account's identifier or the app, is its number with the highest bit set, and nothing else. A zero
/// ends the record.
struct PackedAccount: Sendable {
    private var bytes: [UInt8] = []
    /// The number of records.
    private(set) var count: UInt32 = 0
    /// The kinds of the records: the bit with the number of each.
    private var kinds: UInt32 = 0

    /// The number of records up to which an account is packed. Unpacking it, and adding a record, which reads the earlier ones, take less
    /// than the work that a turn of the event loop may have.
    static let maximumRecords: UInt32 = 64

    init() {}

    init(_ credentials: AccountCredentials) { append(credentials.records) }

    /// Adds a record whose kind and key no other record has.
    mutating func append(_ record: CacheRecord) { append([record]) }

    private mutating func append(_ records: [CacheRecord]) {
        var last = LastValues()
        forEach(&last, { _ in false }, { _, _ in })
        let packed = records.map { $0.packedWithoutToken() }
        var all: [UInt8] = []
        all.reserveCapacity(bytes.count + packed.reduce(0) { $0 + 2 + $1.count })
        all += bytes
        for (record, packed) in zip(records, packed) {
            count += 1
            kinds |= Self.bit(of: record.kind)
            all.append(UInt8(truncatingIfNeeded: record.kind.rawValue))
            Self.append(packed, to: &all, &last)
            all.append(0)
        }
        // No larger than its content, unlike an array that has grown.
        bytes = all.withUnsafeBytes { all in
            [UInt8](unsafeUninitializedCapacity: all.count) { bytes, count in
                UnsafeMutableRawBufferPointer(bytes).copyMemory(from: all)
                count = all.count
            }
        }
    }

    /// Appends the fields of a packed record.
    private static func append(_ packed: [UInt8], to all: inout [UInt8], _ last: inout LastValues) {
        packed.withUnsafeBytes { packed in
            var start = 1
            while start < packed.count {
                let field = Field(in: packed, at: start)
                if let known = last[field.number], all[known].elementsEqual(packed[field.value]) {
                    all.append(field.number | Self.repeated)
                } else {
                    let offset = all.count - start
                    all.append(contentsOf: packed[start..<field.value.upperBound])
                    last[field.number] = field.value.lowerBound + offset..<field.value.upperBound + offset
                }
                start = field.value.upperBound
            }
        }
    }

    /// Whether there is a record of a kind.
    func contains(_ kind: RecordKind) -> Bool { kinds & Self.bit(of: kind) != 0 }

    private static func bit(of kind: RecordKind) -> UInt32 { 1 << UInt32(truncatingIfNeeded: kind.rawValue) }

    /// The unread records.
    ///
    /// - Parameter isIncluded: whether records of a kind are read.
    func credentials(_ isIncluded: (RecordKind) -> Bool = { _ in true }) -> AccountCredentials {
        var (credentials, last) = (AccountCredentials(), LastValues())
        // The texts of many records are worth the pool.
        let texts = TextPool(isShared: count > Self.maximumRecords)
        forEach(&last, isIncluded) { kind, packed in
            if let record = CacheRecord(unread: packed, kind, texts) { credentials.set(record) }
        }
        return credentials
    }

    /// What a list shows of each account record, in any order. Nothing else is unpacked.
    ///
    /// - Parameter identifier: the account's home account ID.
    func profiles(of identifier: HomeAccountID?, _ texts: TextPool) -> [ListedProfile] {
        var profiles: [ListedProfile] = []
        bytes.withUnsafeBytes { bytes in
            var (fields, start) = (PackedFields(bytes), 0)
            while start < bytes.count {
                let isIncluded = bytes[start] == UInt8(truncatingIfNeeded: RecordKind.account.rawValue)
                start = fields.moveToEnd(ofRecordAt: start)
                if isIncluded, let profile = ListedProfile(fields, identifier, texts) { profiles.append(profile) }
            }
        }
        return profiles
    }

    /// Passes the packed form of each included record to `body`.
    private func forEach(
        _ last: inout LastValues, _ isIncluded: (RecordKind) -> Bool,
        _ body: (RecordKind, UnsafeRawBufferPointer) -> Void
    ) {
        var packed: [UInt8] = []
        packed.reserveCapacity(bytes.count)
        bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let kind = RecordKind(rawValue: Int32(bytes[start])).flatMap { isIncluded($0) ? $0 : nil }
                packed.removeAll(keepingCapacity: true)
                packed.append(FieldWriter.mark)
                start += 1
                while start < bytes.count, bytes[start] != 0 {
                    start = Self.expand(bytes, start, &last, into: &packed, isIncluded: kind != nil)
                }
                start += 1
                if let kind { packed.withUnsafeBytes { body(kind, $0) } }
            }
        }
    }

    /// Appends the field at `start` to a packed record.
    ///
    /// - Returns: where the next field begins.
    private static func expand(
        _ bytes: UnsafeRawBufferPointer, _ start: Int, _ last: inout LastValues, into packed: inout [UInt8],
        isIncluded: Bool
    ) -> Int {
        guard bytes[start] & repeated != 0 else {
            let field = Field(in: bytes, at: start)
            last[field.number] = field.value
            if isIncluded { packed.append(contentsOf: bytes[start..<field.value.upperBound]) }
            return field.value.upperBound
        }
        let number = bytes[start] & ~repeated
        if isIncluded, let value = last[number] {
            packed.append(number)
            FieldWriter.append(length: value.count, to: &packed)
            packed.append(contentsOf: bytes[value])
        }
        return start + 1
    }

    private static var repeated: UInt8 { Field.repeated }
}

/// The fields of one record of an account, where they are.
struct PackedFields {
    private let bytes: UnsafeRawBufferPointer
    private var last = LastValues()
    /// The fields that the record has: the bit with the number of each.
    private var present: UInt64 = 0

    /// - Parameter bytes: those of an account; have to stay valid while the fields are used.
    fileprivate init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The bytes of a field; nil if the record has none.
    subscript(field: PackedField) -> UnsafeRawBufferPointer? {
        guard present & 1 << UInt64(field.rawValue) != 0, let value = last[field.rawValue] else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[value])
    }

    /// Reads the record after the one that was read last.
    ///
    /// - Returns: where the record after it begins.
    fileprivate mutating func moveToEnd(ofRecordAt start: Int) -> Int {
        var next = start + 1
        present = 0
        while next < bytes.count, bytes[next] != 0 {
            let number = bytes[next] & ~Field.repeated
            present |= 1 << UInt64(number)
            if bytes[next] & Field.repeated != 0 {
                next += 1
            } else {
                let field = Field(in: bytes, at: next)
                last[number] = field.value
                next = field.value.upperBound
            }
        }
        return next + 1
    }
}

/// Where a field of a packed record is.
private struct Field {
    /// A bit in a field's number: the value is that of the last field with the number.
    static var repeated: UInt8 { 0x80 }

    let number: UInt8
    let value: Range<Int>

    /// - Parameter bytes: have been written by `FieldWriter`.
    init(in bytes: UnsafeRawBufferPointer, at start: Int) {
        var (length, shift, next) = (0, 0, start + 1)
        repeat {
            length |= Int(bytes[next] & 0x7F) << shift
            shift += 7
            next += 1
        } while bytes[next - 1] & 0x80 != 0
        number = bytes[start]
        value = next..<next + length
    }
}

/// Where the last value of each field is in the bytes of an account.
private struct LastValues {
    /// The ranges by the field's number; empty until there is a value. A field without a value has the empty range at
    /// 0, where no value can start.
    private var ranges: [(start: UInt32, end: UInt32)] = []

    subscript(number: UInt8) -> Range<Int>? {
        get {
            guard Int(number) < ranges.count, case let (start, end) = ranges[Int(number)], start > 0 else { return nil }
            return Int(start)..<Int(end)
        }
        set {
            if ranges.isEmpty { ranges = Array(repeating: (0, 0), count: 64) }
            let value = newValue ?? 0..<0
            let (start, end) = (value.lowerBound, value.upperBound)
            ranges[Int(number)] = (UInt32(truncatingIfNeeded: start), UInt32(truncatingIfNeeded: end))
        }
    }
}
