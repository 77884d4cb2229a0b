/// Text for a terminal with colours, links and rewritten lines: a terminal obeys what this type adds, and nothing in the text itself.
package struct StyledText: Sendable, ExpressibleByStringInterpolation {
    /// The control sequences for a terminal.
    private enum Control: Sendable {
        case style(Int)
        case link(String)
        /// The beginning of the line, which is then erased.
        case eraseLine
    }

    private enum Piece: Sendable {
        case text(String)
        /// Text whose lines are not broken.
        case fixed(String)
        case control(Control)

        var text: String? {
            switch self {
            case .text(let text), .fixed(let text): text
            case .control: nil
            }
        }
    }

    /// The features that are used, as far as the terminal has them and its user wants them.
    package struct Abilities: Sendable, Equatable {
        package var hasColours: Bool
        /// Links, and lines that are written again.
        package var hasControls: Bool

        package init(hasColours: Bool, hasControls: Bool) {
            self.hasColours = hasColours
            self.hasControls = hasControls
        }
    }

    private var pieces: [Piece]

    package init(_ text: String) { pieces = [.text(text)] }

    package init(stringLiteral text: String) { self.init(text) }

    private init(_ pieces: [Piece]) { self.pieces = pieces }

    package static func bold(_ text: String) -> StyledText { style(1, text) }
    package static func dim(_ text: String) -> StyledText { style(2, text) }
    /// Bold and red, for a failure.
    package static func alarm(_ text: String) -> StyledText {
        StyledText([.control(.style(1)), .control(.style(31)), .text(text), .control(.style(0))])
    }
    package static func green(_ text: String) -> StyledText { style(32, text) }

    /// Erases the current line, so that it can be written again.
    package static let eraseLine = StyledText([.control(.eraseLine)])

    /// A link (OSC 8) that shows its URL; the plain URL, on one line, if it has other characters than a URL may have.
    package static func link(_ url: String) -> StyledText {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return StyledText(TerminalText.line(url)) }
        return StyledText([.control(.link(url)), .text(url), .control(.link(""))])
    }

    private static func style(_ number: Int, _ text: String) -> StyledText {
        StyledText([.control(.style(number)), .text(text), .control(.style(0))])
    }

    package static func + (left: StyledText, right: StyledText) -> StyledText {
        StyledText(left.pieces + right.pieces)
    }

    package static func += (left: inout StyledText, right: StyledText) { left.pieces += right.pieces }

    /// The same text, whose lines ``wrapped(columns:)`` leaves as they are: a table, a drawing, or what a program reads.
    package var fixed: StyledText {
        StyledText(pieces.map { if case .text(let text) = $0 { .fixed(text) } else { $0 } })
    }

    /// The text with lines of at most so many columns, broken at blanks; nil breaks none.
    ///
    /// A URL is not divided, nor a command behind `→`. Later lines are indented as the first one is.
    package func wrapped(columns: Int?) -> StyledText {
        guard let columns, columns >= LineWrap.leastColumns else { return self }
        // Characters that are written as their numbers take more columns.
        let texts = pieces.map { Array(TerminalText.neutralised($0.text ?? "")) }
        var (fixed, offset) = ([Range<Int>](), 0)
        for (piece, text) in zip(pieces, texts) {
            if case .fixed = piece, !text.isEmpty { fixed.append(offset..<offset + text.count) }
            offset += text.count
        }
        let breaks = LineWrap(columns: columns).breaks(texts.flatMap(\.self), fixed: fixed)
        guard !breaks.isEmpty else { return self }
        offset = 0
        return StyledText(
            zip(pieces, texts).map { piece, text in
                defer { offset += text.count }
                guard case .text = piece else { return piece }
                return .text(Self.text(text, at: offset, breaks))
            })
    }

    /// A part of a text, with the breaks that begin in it.
    private static func text(_ part: [Character], at offset: Int, _ breaks: [LineWrap.Break]) -> String {
        let range = offset..<offset + part.count
        var (text, index) = ("", offset)
        for place in breaks where place.blanks.overlaps(range) {
            let blanks = place.blanks.clamped(to: range)
            text += String(part[index - offset..<blanks.lowerBound - offset])
            if range.contains(place.blanks.lowerBound) {
                text += "\n" + String(repeating: " ", count: place.indentation)
            }
            index = blanks.upperBound
        }
        return text + String(part[(index - offset)...])
    }

    /// The text for a stream with these abilities.
    package func rendered(_ abilities: Abilities) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text), .fixed(let text): TerminalText.neutralised(text)
            case .control(.style(let number)): abilities.hasColours ? "\u{1B}[\(number)m" : ""
            case .control(.link(let url)): abilities.hasControls ? "\u{1B}]8;;\(url)\u{1B}\\" : ""
            case .control(.eraseLine): abilities.hasControls ? "\r\u{1B}[K" : ""
            }
        }.joined()
    }
}

extension StandardStream {
    /// Writes all of a styled text, as `write(_:)` does.
    package func write(_ text: StyledText, _ abilities: StyledText.Abilities) {
        writeUnchecked(text.rendered(abilities))
    }
}
