/// The limit of combining characters in a row in a text of unknown origin.
///
/// Swift compares and hashes strings in normal form, and for that sorts each run of combining characters in a time that is
/// quadratic in its length: comparing 128 KiB of them with a short name takes seconds. Every reader of foreign text therefore
/// refuses longer runs, and a comparison takes linear time. The limit is that of the Stream-Safe Text Format (Unicode Standard
/// Annex #15 section 13), which no language exceeds.
package enum CombiningCharacters {
    /// The longest run.
    package static let longestRun = 30

    /// Whether a text of valid UTF-8 has a longer run.
    package static func areExcessive(in utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        // A combining character has two bytes or more. The first of them is U+0300, which begins with 0xCC.
        guard utf8.count > 2 * longestRun, !utf8.isASCII else { return false }
        var index = 0
        while index < utf8.count, utf8[index] < 0xCC { index += 1 }
        guard index < utf8.count else { return false }
        var run = 0
        for scalar in String(decoding: utf8[index...], as: UTF8.self).unicodeScalars {
            run = isCombining(scalar) ? run + 1 : 0
            if run > longestRun { return true }
        }
        return false
    }

    static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }

    /// Whether a text has a longer run.
    package static func areExcessive(in text: String) -> Bool {
        var text = text
        return text.withUTF8 { areExcessive(in: $0) }
    }
}
