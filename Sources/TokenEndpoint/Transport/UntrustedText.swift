/// Text that a server chose, on its way into an error that a person or a terminal will see.
enum UntrustedText {
    /// As long as a text on the wire to an app may be.
    static let limit = 4096

    /// Cut to 4 KiB of UTF-8; control characters, line breaks and writing direction marks become spaces.
    static func clean(_ text: String) -> String {
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

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        default: false
        }
    }
}
