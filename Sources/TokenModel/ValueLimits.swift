/// How long values may be and which characters they may have: one contract for the store and for messages.
///
/// Everything that comes in, from a token endpoint or from another library's cache, is held against it before it is stored, so
/// that whatever is stored fits into a reply. `WireLimits` takes its numbers from here.
package enum ValueLimits {
    /// Longest identifier, in bytes: an account, an app, a host, a realm. Several of them make one text on the wire, such as
    /// an authority or the place where a list goes on.
    package static let identifier = 1024
    /// Longest authority in a request, in bytes: a tenant's identifier may take the place of its realm.
    package static let authority = 2048
    /// Longest text in a message, in bytes, unless a field says otherwise; names are cut to it.
    package static let text = 4 * 1024
    /// Longest claims request, URL of a redirect or scopes of a token together, in bytes.
    package static let longText = 32 * 1024
    /// Longest token in a message, in bytes: group claims make tokens of tens of kilobytes.
    package static let token = 256 * 1024
    /// Longest ID token in the store, in bytes: a token result may hold one three times.
    package static let idToken = 128 * 1024
    /// Longest list in a message.
    package static let listItems = 256
    /// What another library wrote of one entry, in bytes of JSON; far below what the store takes.
    package static let unknownFields = 4 << 20

    /// Whether a text can be told from others and named in a request: not too long, without control characters, and without
    /// white space around it.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= identifier && isPrintable(text) && (text.isEmpty || text.trimmedNonEmpty == text)
    }

    /// Whether a text has no characters that `UntrustedText` takes out: control characters, NUL among them, line breaks and
    /// writing direction marks.
    package static func isPrintable(_ text: String) -> Bool {
        var isASCII = true
        for byte in text.utf8 {
            if byte < 0x20 || byte == 0x7F { return false }
            if byte > 0x7F { isASCII = false }
        }
        return isASCII || !text.unicodeScalars.contains(where: UntrustedText.isHarmful)
    }

    /// A name for people to read: cut to the longest text, without control characters, and trimmed.
    package static func name(_ text: String) -> String {
        if text.utf8.count <= Self.text, isPlain(text) { return text }
        return UntrustedText.clean(text).trimmedNonEmpty ?? ""
    }

    /// A text for people to read in a message: cut to `limit` bytes, with spaces for NUL.
    package static func message(_ text: String, limit: Int = ValueLimits.text) -> String {
        if text.utf8.count <= limit, !text.utf8.contains(0) { return text }
        var cut = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            cut.append(scalar == "\0" ? " " : scalar)
        }
        return String(cut)
    }

    /// Whether there is nothing to clean in a name, as in nearly every one.
    private static func isPlain(_ text: String) -> Bool {
        let space = UInt8(ascii: " ")
        return text.utf8.first != space && text.utf8.last != space && text.utf8.allSatisfy { $0 >= space && $0 < 0x7F }
    }
}
