internal import TokenModel

extension JSONReader {
    /// A text, from its opening quote; empty when it is too long to be kept.
    mutating func readText() throws(TokenError) -> String {
        feed.advance()
        var content: [UInt8] = []
        while true {
            let (start, stop) = (feed.index, endOfPlainText)
            let isKept = feed.position + stop - start <= end
            if content.isEmpty, isKept, stop < feed.buffer.count, feed.buffer[stop] == UInt8(ascii: "\"") {
                // Nearly every text: in one piece, without escapes.
                let text = try text(of: feed.buffer[start..<stop])
                feed.advance(to: stop + 1)
                return text
            }
            if isKept { content += feed.buffer[start..<stop] }
            if stop > start { feed.advance(to: stop) }
            switch next {
            case nil: throw error("the end, within a text")
            case UInt8(ascii: "\""):
                feed.advance()
                return isTooLong ? "" : try text(of: content[...])
            case UInt8(ascii: "\\"):
                feed.advance()
                try addEscape(to: &content)
            case .some(let byte) where byte < 0x20: throw error("a control character in a text")
            // The text goes on in the next part.
            case .some: break
            }
        }
    }

    private func text(of bytes: ArraySlice<UInt8>) throws(TokenError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw error("ill-formed UTF-8 before") }
        return text
    }

    /// Where in the buffer the next byte with a meaning of its own in a text is, or its end. Tokens are long, so this is where
    /// a reader spends its time.
    private var endOfPlainText: Int {
        feed.buffer.withUnsafeBufferPointer { bytes in
            var index = feed.index
            while index < bytes.count, bytes[index] != UInt8(ascii: "\""), bytes[index] != UInt8(ascii: "\\"),
                bytes[index] >= 0x20
            {
                index += 1
            }
            return index
        }
    }

    /// Adds what an escape stands for, from behind its backslash.
    private mutating func addEscape(to content: inout [UInt8]) throws(TokenError) {
        let kind = next
        if kind != nil { feed.advance() }
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): add(Unicode.Scalar(kind ?? 0), to: &content)
        case UInt8(ascii: "b"): add("\u{8}", to: &content)
        case UInt8(ascii: "f"): add("\u{C}", to: &content)
        case UInt8(ascii: "n"): add("\n", to: &content)
        case UInt8(ascii: "r"): add("\r", to: &content)
        case UInt8(ascii: "t"): add("\t", to: &content)
        case UInt8(ascii: "u"): try addUnicodeEscape(to: &content)
        default: throw error("an unknown escape")
        }
    }

    /// Half a surrogate pair stands for nothing and becomes the replacement character.
    private mutating func addUnicodeEscape(to content: inout [UInt8]) throws(TokenError) {
        var unit = try codeUnit()
        while true {
            if let scalar = Unicode.Scalar(unit) { return add(scalar, to: &content) }
            guard unit < 0xDC00, take(UInt8(ascii: "\\")) else { return add("\u{FFFD}", to: &content) }
            guard take(UInt8(ascii: "u")) else {
                add("\u{FFFD}", to: &content)
                return try addEscape(to: &content)
            }
            let second = try codeUnit()
            if (0xDC00...0xDFFF).contains(second) {
                let value = 0x10000 + (UInt32(unit - 0xD800) << 10) + UInt32(second - 0xDC00)
                return add(Unicode.Scalar(value) ?? "\u{FFFD}", to: &content)
            }
            add("\u{FFFD}", to: &content)
            unit = second
        }
    }

    private func add(_ scalar: Unicode.Scalar, to content: inout [UInt8]) {
        if !isTooLong { content += UTF8.encode(scalar).map(Array.init) ?? [] }
    }

    private mutating func codeUnit() throws(TokenError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next else { throw error("the end, within an escape") }
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw error("a malformed escape") }
            unit = unit << 4 | UInt16(digit)
            feed.advance()
        }
        return unit
    }
}
