internal import PosixFiles
internal import TokenModel

/// Rows of text in columns.
enum Table {
    /// The lines of a table with a header, two blanks between the columns.
    static func text(_ header: [String], _ rows: [[String]]) -> StyledText {
        // One line each, whatever a name has.
        let rows = rows.map { $0.map { UntrustedText.clean($0) } }
        let widths = header.indices.map { column in ([header] + rows).map { width($0[column]) }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            // Blanks are written before the next text, so that no line ends with some.
            var (text, blanks) = ("", 0)
            for (cell, column) in zip(cells, widths) {
                if !cell.isEmpty {
                    text += String(repeating: " ", count: blanks) + cell
                    blanks = 0
                }
                blanks += column - width(cell) + 2
            }
            return text
        }
        return .bold(line(header)) + StyledText(rows.map { "\n" + line($0) }.joined())
    }

    /// The number of columns of a terminal that a text takes: one for each character, though wide ones, as of Chinese, take two.
    private static func width(_ text: String) -> Int { text.isPrintableASCII ? text.utf8.count : text.count }
}
