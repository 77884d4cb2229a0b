internal import PosixFiles
internal import TokenModel

/// Rows of text in columns.
enum Table {
    /// The lines of a table with a header, two blanks between the columns.
    static func text(_ header: [String], _ rows: [[String]]) -> StyledText {
        // One line each, whatever a name has.
        let rows = rows.map { $0.map { UntrustedText.clean($0) } }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            let text = padded.joined(separator: "  ")
            return String(text[..<(text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex)])
        }
        return .bold(line(header)) + StyledText(rows.map { "\n" + line($0) }.joined())
    }
}
