/// Tests for the forms that nearly all texts have, so that the general rules can be left out. They have no branch for each byte, and
/// join no conditions with `||`, so that the compiler checks several bytes at once.
extension StringProtocol {
    /// Whether every character is a graphic character of ASCII: no white space, and no control character. True for an empty text.
    package var isGraphicASCII: Bool { isASCII(from: 0x21) }

    /// Whether every character is ASCII and no control character, as of most names.
    package var isPrintableASCII: Bool { isASCII(from: 0x20) }

    @inline(__always) private func isASCII(from first: UInt8) -> Bool {
        utf8.withContiguousStorageIfAvailable { areASCII($0, from: first) }
            ?? utf8.allSatisfy { $0 >= first && $0 < 0x7F }
    }
}

@inline(__always) private func areASCII(_ bytes: UnsafeBufferPointer<UInt8>, from first: UInt8) -> Bool {
    var others: UInt8 = 0
    for byte in bytes { others |= byte &- first < 0x7F - first ? 0 : 1 }
    return others == 0
}

extension String {
    /// Whether all characters are graphic ASCII, as the property of `StringProtocol` says, without the cost of generic code.
    package var isGraphicASCII: Bool {
        utf8.withContiguousStorageIfAvailable { areASCII($0, from: 0x21) } ?? self[...].isGraphicASCII
    }

    /// The text in lower case, as `lowercased()` returns it; a text in ASCII without capitals is not copied.
    package var inLowerCase: String {
        let isLower = utf8.withContiguousStorageIfAvailable { bytes in
            var others: UInt8 = 0
            for byte in bytes { others |= (byte &- 0x41 < 26 ? 1 : 0) | (byte > 0x7F ? 1 : 0) }
            return others == 0
        }
        return isLower == true ? self : lowercased()
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether every byte is a character of ASCII.
    package var isASCII: Bool {
        var bits: UInt8 = 0
        for byte in self { bits |= byte }
        return bits < 0x80
    }

    /// Whether every byte is a graphic character of ASCII.
    package var isGraphicASCII: Bool { areASCII(self, from: 0x21) }

    /// Whether every byte is a printable character of ASCII, a line feed or a tab.
    package var isPlainText: Bool {
        var others: UInt8 = 0
        for byte in self { others |= (byte &- 0x20 < 0x5F ? 0 : 1) & (byte &- 0x09 < 2 ? 0 : 1) }
        return others == 0
    }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit of ASCII.
    package var isASCIILetterOrDigit: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
