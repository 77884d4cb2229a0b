internal import TokenModel

/// The number of columns that text takes on a terminal.
package enum TerminalColumns {
    /// The columns of a text on one line.
    package static func width(_ text: String) -> Int {
        text.isPrintableASCII ? text.utf8.count : text.reduce(0) { $0 + width($1) }
    }

    /// The columns of a character: two for an emoji, whatever it consists of, else those of its letters and marks.
    static func width(_ character: Character) -> Int {
        if character == "\t" { return 8 }
        let scalars = character.unicodeScalars
        return scalars.contains(where: isEmoji) ? 2 : scalars.reduce(0) { $0 + width($1) }
    }

    /// The columns of a letter or a mark as wcwidth(3) has them: none for what is written over the letter before it, or not shown at
    /// all, and two for a wide letter (Unicode Standard Annex 11), such as those of Chinese.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        // The soft hyphen is shown.
        case 0..<0x300: return 1
        // Vowels and final consonants of Korean, which are parts of the letter before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar) ? 2 : 1
        }
    }

    private static func isEmoji(_ scalar: Unicode.Scalar) -> Bool {
        // U+FE0F shows the character before it as an emoji.
        scalar.value >= 0x1100 && (scalar.value == 0xFE0F || scalar.properties.isEmojiPresentation)
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
