/// Text that somebody else chose, on its way to a person, a terminal or a message.
package enum UntrustedText {
    /// Cut to `limit` bytes of UTF-8; control characters, line breaks and writing direction marks become spaces.
    package static func clean(_ text: String, limit: Int = ValueLimits.text) -> String {
        var cleaned = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            let scalar = isHarmful(scalar) ? " " : scalar
            count += UTF8.width(scalar)
            guard count <= limit else { break }
            cleaned.append(scalar)
        }
        return String(cleaned)
    }

    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}
