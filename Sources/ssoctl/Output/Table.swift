internal import PosixFiles
internal import TokenModel

/// Rows of text in columns.
enum Table {
    /// The lines of a table with a header, two blanks between the columns.
    static func text(_ header: [String], _ rows: [[String]]) -> StyledText {
        let rows = cleaned(rows)
        return lines(header, rows, widths(header, rows)).fixed
    }

    /// The lines of a table as above; nil if the terminal has no room for it.
    static func fitting(_ header: [String], _ rows: [[String]]) -> StyledText? {
        let rows = cleaned(rows)
        let widths = widths(header, rows)
        return fit(widths) ? lines(header, rows, widths).fixed : nil
    }

    /// The lines of a table as above, without the columns for which the terminal has no room.
    ///
    /// - Parameters:
    ///   - optional: the columns that may be left out, in this order.
    ///   - elsewhere: what shows them, as the end of a sentence.
    static func fitted(
        _ header: [String], _ rows: [[String]], leavingOut optional: [String], elsewhere: String
    ) -> StyledText {
        var (header, rows, left) = (header, cleaned(rows), [String]())
        var widths = widths(header, rows)
        for name in optional where !fit(widths) {
            guard let column = header.firstIndex(of: name) else { continue }
            header.remove(at: column)
            widths.remove(at: column)
            for row in rows.indices { rows[row].remove(at: column) }
            left.append(name)
        }
        let table = lines(header, rows, widths).fixed
        guard !left.isEmpty else { return table }
        let names = [left.dropLast().joined(separator: ", "), left[left.count - 1]].filter { !$0.isEmpty }
        return table + "\n\n" + .dim("Too wide for this terminal: \(names.joined(separator: " and ")). \(elsewhere)")
    }

    /// Each cell is on one line, whatever characters a name has, and as it is shown: characters that are written as their numbers take
    /// more columns.
    private static func cleaned(_ rows: [[String]]) -> [[String]] {
        rows.map { $0.map { TerminalText.neutralised(UntrustedText.clean($0, limit: .max)) } }
    }

    private static func widths(_ header: [String], _ rows: [[String]]) -> [Int] {
        var widths = header.map(TerminalColumns.width)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], TerminalColumns.width(cell)) }
        }
        return widths
    }

    /// Whether the terminal has room for columns of these widths.
    private static func fit(_ widths: [Int]) -> Bool {
        guard let columns = StandardStream.output.columns else { return true }
        return widths.reduce(-2) { $0 + $1 + 2 } <= columns
    }

    private static func lines(_ header: [String], _ rows: [[String]], _ widths: [Int]) -> StyledText {
        var (head, text) = ("", "")
        append(header, widths, to: &head)
        for row in rows {
            text += "\n"
            append(row, widths, to: &text)
        }
        return .bold(head) + StyledText(text)
    }

    private static func append(_ cells: [String], _ widths: [Int], to text: inout String) {
        // Blanks are written before the next text, so that no line ends with blanks.
        var blanks = 0
        for (cell, column) in zip(cells, widths) {
            if !cell.isEmpty {
                text += String(repeating: " ", count: blanks)
                text += cell
                blanks = 0
            }
            blanks += column - TerminalColumns.width(cell) + 2
        }
    }
}
