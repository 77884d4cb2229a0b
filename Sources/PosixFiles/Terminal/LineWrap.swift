/// Finds the places at which text for people is broken at the width of a terminal.
///
/// Lines are broken at blanks only: a word that is longer than a line, such as a URL, and a command line stay whole.
struct LineWrap {
    /// Blanks that are replaced by the end of a line and the indentation of the next one.
    struct Break {
        let blanks: Range<Int>
        let indentation: Int
    }

    /// On narrower terminals, text is not broken.
    static let leastColumns = 20
    /// The texts that precede a command, which reaches to the end of its line.
    private static let marks = ["with: ssoctl ", "run: "].map { Array($0) }
    /// The length up to which the first word counts as a label: the later lines are aligned with the text that follows
    /// it.
    private static let longestMark = 8
    /// The words that are labels also before one blank.
    private static let labels = ["→", "FAIL"].map { Array($0) }

    let columns: Int

    /// The places where a line of the text may be broken, in the order of the text.
    ///
    /// - Parameter fixed: the characters whose lines stay as they are.
    func breaks(_ text: [Character], fixed: [Range<Int>]) -> [Break] {
        var (found, start) = ([Break](), 0)
        while start < text.count {
            let end = text[start...].firstIndex(of: "\n") ?? text.count
            if !fixed.contains(where: { $0.overlaps(start..<end) }) { found += breaks(ofLine: text[start..<end]) }
            start = end + 1
        }
        return found
    }

    private func breaks(ofLine line: ArraySlice<Character>) -> [Break] {
        guard width(line) > columns else { return [] }
        let command = Self.command(in: line)
        let indentation = indentation(of: line)
        var (found, column, index) = ([Break](), 0, line.startIndex)
        while index < line.endIndex {
            let start = line[index...].firstIndex { $0 != " " } ?? line.endIndex
            guard start < line.endIndex else { break }
            let end = start >= command ? line.endIndex : line[start...].firstIndex(of: " ") ?? line.endIndex
            let word = width(line[start..<end])
            let isFirst = found.isEmpty && !line[..<start].contains { $0 != " " }
            if !isFirst, column + (start - index) + word > columns {
                found.append(Break(blanks: index..<start, indentation: indentation))
                column = indentation + word
            } else {
                column += start - index + word
            }
            index = end
        }
        return found
    }

    /// The first character of the line's command; the end of the line if it has none.
    private static func command(in line: ArraySlice<Character>) -> Int {
        if let arrow = line.firstIndex(of: "→") { return command(in: line, behind: arrow) }
        let mark = line.indices.first { index in marks.contains { line[index...].starts(with: $0) } }
        return mark.flatMap { line[$0...].firstIndex(of: " ") }.map { $0 + 1 } ?? line.endIndex
    }

    /// The first character of the command behind an arrow, which points at a command, or at a sentence with commas,
    /// which may have a command behind a colon.
    private static func command(in line: ArraySlice<Character>, behind arrow: Int) -> Int {
        let text = line[arrow...].dropFirst(2)
        let first = text.prefix { $0 != " " }
        let isOwn = ["ssoctl", "sso-agent"].contains(String(first)) || first.contains("=")
        let marks = text.indices.dropLast(2).filter { text[$0 + 1] == " " && (text[$0] == "," || text[$0] == ":") }
        guard !isOwn, !marks.isEmpty else { return arrow }
        guard let colon = marks.last(where: { text[$0] == ":" }), text[colon + 2].isLowercase else {
            return line.endIndex
        }
        return colon + 2
    }

    /// The blanks at the beginning of a line; also what is before its text if that is an arrow, or a short word and several blanks.
    private func indentation(of line: ArraySlice<Character>) -> Int {
        let start = line.firstIndex { $0 != " " } ?? line.endIndex
        let end = line[start...].firstIndex(of: " ") ?? line.endIndex
        let next = line[end...].firstIndex { $0 != " " } ?? end
        let isMark = Self.labels.contains(Array(line[start..<end])) || next - end > 1 && end - start <= Self.longestMark
        return min((isMark ? next : start) - line.startIndex, columns / 2)
    }

    private func width(_ characters: ArraySlice<Character>) -> Int {
        characters.reduce(0) { $0 + TerminalColumns.width($1) }
    }
}
