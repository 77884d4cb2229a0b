#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// UUIDs as text (RFC 9562 section 4). Every request carries one, and Foundation goes through `scanf` and `printf` for it.
extension UUID {
    /// Nil unless `text` is the 36 characters of a UUID, in either case.
    init?(text: String) {
        var characters = text.utf8.makeIterator()
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isWhole = withUnsafeMutableBytes(of: &bytes) { bytes in
            for index in bytes.indices {
                if Self.hasDash(before: index), characters.next() != UInt8(ascii: "-") { return false }
                guard let high = characters.next().flatMap(Self.digit), let low = characters.next().flatMap(Self.digit)
                else { return false }
                bytes[index] = high << 4 | low
            }
            return characters.next() == nil
        }
        guard isWhole else { return nil }
        self.init(uuid: bytes)
    }

    /// The 36 characters in lower case.
    var lowercaseText: String {
        withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var count = 0
                func add(_ character: UInt8) {
                    text.initializeElement(at: count, to: character)
                    count += 1
                }
                for index in bytes.indices {
                    if Self.hasDash(before: index) { add(UInt8(ascii: "-")) }
                    add(Self.character(bytes[index] >> 4))
                    add(Self.character(bytes[index] & 0xF))
                }
                return count
            }
        }
    }

    private static func hasDash(before index: Int) -> Bool {
        switch index {
        case 4, 6, 8, 10: true
        default: false
        }
    }

    private static func character(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
