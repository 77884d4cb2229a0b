internal import TokenModel

/// Text for a terminal: characters that a terminal obeys, or that change the order in which it shows others, are written as their
/// numbers, such as `\u001B`.
///
/// The form is that of JSON: a JSON document, in which such characters occur in strings only, stays one with the same values.
/// Line feeds and tabs are kept.
package enum TerminalText {
    /// Returns the text without such characters.
    package static func neutralised(_ text: String) -> String {
        guard !isPlain(text) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isObeyed(scalar) {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { shown += escape(unit) }
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    private static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8(\.isPlainText)
    }

    /// Returns the text without such characters and on one line: line feeds and tabs become blanks.
    package static func line(_ text: String) -> String {
        // After the others, since a carriage return forms one `Character` with a line feed behind it.
        var line = String.UnicodeScalarView()
        for scalar in neutralised(text).unicodeScalars { line.append(scalar == "\n" || scalar == "\t" ? " " : scalar) }
        return String(line)
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control: scalar != "\n" && scalar != "\t"
        case .lineSeparator, .paragraphSeparator: true
        // Of the others in this category, joiners are parts of words and emoji.
        case .format: scalar.properties.isBidiControl || isInvisible(scalar.value)
        default: false
        }
    }

    /// Marks of annotations, the byte order mark, obsolete formatting characters, and tags, in which text can hide.
    private static func isInvisible(_ value: UInt32) -> Bool {
        switch value {
        case 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
        default: false
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
