internal import TokenModel

/// A property list with the kinds of objects of a keyed archive.
indirect enum PropertyList {
    case integer(Int)
    case real(Double)
    case text(String)
    case uid(Int)
    case list([PropertyList])
    case dictionary([(name: String, value: PropertyList)])
    /// An object that has been written, by its index.
    case written(UInt32)
}

/// Writes Apple's `bplist00`: the objects, a table of their offsets, and a trailer with the table's position.
///
/// Objects are written as they are added, and `drain` may be called between two of them: only the offsets of all objects are
/// kept in memory.
struct BinaryPropertyListWriter {
    private var bytes: [UInt8] = Array("bplist00".utf8)
    /// The number of bytes that `drain` has returned.
    private var drained = 0
    private var places: [UInt32] = []
    private var texts: [ExactText: UInt32] = [:]

    /// Writes the objects of a value, then the value; returns its index.
    mutating func add(_ value: PropertyList) -> UInt32 {
        switch value {
        case .written(let index): return index
        case .integer(let number): return write { $0.number(UInt64(bitPattern: Int64(number))) }
        case .real(let number):
            return write {
                $0.bytes.append(0x23)
                $0.append(number.bitPattern, size: 8)
            }
        case .uid(let uid):
            return write {
                $0.bytes.append(0x83)
                $0.append(UInt64(uid), size: 4)
            }
        case .text(let text): return add(text)
        case .list(let values):
            let references = values.map { add($0) }
            return write {
                $0.length(references.count, marker: 0xA0)
                for reference in references { $0.append(UInt64(reference), size: Self.referenceSize) }
            }
        case .dictionary(let members):
            let names = members.map { add($0.name) }
            let values = members.map { add($0.value) }
            return write {
                $0.length(names.count, marker: 0xD0)
                for reference in names + values { $0.append(UInt64(reference), size: Self.referenceSize) }
            }
        }
    }

    /// Returns the bytes that were written since the last call, and forgets them.
    mutating func drain() -> [UInt8] {
        defer {
            drained += bytes.count
            bytes = []
        }
        return bytes
    }

    /// Writes the table and the trailer. Nothing may be added afterwards.
    mutating func finish(top: UInt32) {
        let table = drained + bytes.count
        for place in places { append(UInt64(place), size: Self.offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(Self.offsetSize), UInt8(Self.referenceSize)]
        for number in [places.count, Int(top), table] { append(UInt64(number), size: 8) }
    }

    /// Writes a text. A short one is written once; long ones are tokens, and not repeated.
    private mutating func add(_ text: String) -> UInt32 {
        if let known = texts[ExactText(text)] { return known }
        let index = write { writer in
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                writer.length(text.utf8.count, marker: 0x50)
                writer.bytes += text.utf8
            } else {
                writer.length(text.utf16.count, marker: 0x60)
                for unit in text.utf16 { writer.append(UInt64(unit), size: 2) }
            }
        }
        if text.utf8.count <= Self.shortText { texts[ExactText(text)] = index }
        return index
    }

    private mutating func write(_ body: (inout Self) -> Void) -> UInt32 {
        places.append(UInt32(truncatingIfNeeded: drained + bytes.count))
        body(&self)
        return UInt32(places.count - 1)
    }

    private mutating func length(_ length: Int, marker: UInt8) {
        guard length >= 15 else { return bytes.append(marker | UInt8(length)) }
        bytes.append(marker | 0xF)
        number(UInt64(length))
    }

    private mutating func number(_ number: UInt64) {
        bytes.append(0x13)
        append(number, size: 8)
    }

    private mutating func append(_ number: UInt64, size: Int) {
        for shift in (0..<size).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(shift)))) }
    }

    /// Four bytes for every reference and offset: enough for any export.
    private static let referenceSize = 4
    private static let offsetSize = 4
    private static let shortText = 256
}
