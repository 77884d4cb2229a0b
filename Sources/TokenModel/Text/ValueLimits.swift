/// The longest values and the allowed characters, for the store and for messages.
///
/// Every value from a token endpoint or another library's cache is checked before it is stored, so that every stored value
/// fits into a reply. `WireLimits` uses these numbers.
package enum ValueLimits {
    /// The longest identifier, in bytes: of an account, an app, a host or a realm. A text on the wire may consist of
    /// several, such as an authority or the cursor of a list.
    package static let identifier = 1024
    /// The longest authority in a request, in bytes: the ID of a tenant may replace its realm.
    package static let authority = 2048
    /// The longest text in a message, in bytes, unless a field has its own limit. Names are cut to it.
    package static let text = 4 * 1024
    /// The longest claims request, the longest redirect URL, and the longest scopes of a token together, in bytes.
    package static let longText = 32 * 1024
    /// The longest token in a message, in bytes: a token with group claims may have tens of kilobytes.
    package static let token = 256 * 1024
    /// The longest ID token in the store, in bytes: a token result may have one three times.
    package static let idToken = 128 * 1024
    /// The longest list in a message.
    package static let listItems = 256
    /// The longest JSON of the unknown fields of an entry, in bytes; far below the store's limit.
    package static let unknownFields = 4 << 20

    /// Whether a text can be an identifier: not too long, without control characters, and without surrounding white space.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= identifier
            && (text.isGraphicASCII || isPrintable(text) && (text.isEmpty || text.trimmedNonEmpty == text))
    }

    /// Whether a text has no characters that `UntrustedText` replaces or drops: control characters, line breaks, writing
    /// direction marks, and too many combining characters in a row.
    package static func isPrintable(_ text: String) -> Bool {
        if text.isGraphicASCII { return true }
        var isASCII = true
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F { return false }
            if byte > 0x7F { isASCII = false }
        }
        return isASCII
            || !text.unicodeScalars.contains(where: UntrustedText.isHarmful)
                && !CombiningCharacters.areExcessive(in: text)
    }

    /// A display name: cut to the longest text, without control characters, and trimmed.
    package static func name(_ text: String) -> String {
        if text.utf8.count <= Self.text, isPlain(text) { return text }
        return UntrustedText.clean(text).trimmedNonEmpty ?? ""
    }

    /// A text of a message: cut to `limit` bytes, with spaces instead of NUL, and without combining characters that are too many
    /// in a row.
    package static func message(_ text: String, limit: Int = ValueLimits.text) -> String {
        if text.utf8.count <= limit, !text.utf8.contains(0), !CombiningCharacters.areExcessive(in: text) { return text }
        return UntrustedText.cut(text, limit: limit) { $0 == "\0" ? " " : $0 }
    }

    /// Whether a name needs no cleaning; true for nearly all names.
    private static func isPlain(_ text: String) -> Bool {
        let space = UInt8(ascii: " ")
        return text.utf8.first != space && text.utf8.last != space && text.isPrintableASCII
    }
}

/// Cleans text of unknown origin for output to a user, a terminal or a log.
package enum UntrustedText {
    /// Cuts the text to `limit` bytes of UTF-8, replaces control characters, line breaks and writing direction marks by
    /// spaces, and drops combining characters that are too many in a row.
    package static func clean(_ text: String, limit: Int = ValueLimits.text) -> String {
        if text.utf8.count <= limit, text.isPrintableASCII { return text }
        return cut(text, limit: limit) { isHarmful($0) ? " " : $0 }
    }

    /// Cuts the text to `limit` bytes of UTF-8, with the replacement of each character, and drops combining characters that are
    /// too many in a row.
    fileprivate static func cut(
        _ text: String, limit: Int, replacing replacement: (Unicode.Scalar) -> Unicode.Scalar
    ) -> String {
        var cut = String.UnicodeScalarView()
        var (count, run) = (0, 0)
        for scalar in text.unicodeScalars {
            let scalar = replacement(scalar)
            run = CombiningCharacters.isCombining(scalar) ? run + 1 : 0
            if run > CombiningCharacters.longestRun { continue }
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            cut.append(scalar)
        }
        return String(cut)
    }

    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}
