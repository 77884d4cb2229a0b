internal import Foundation
internal import TestSupport
internal import Testing

/// The tests that docs/conformance.md names exist.
@Suite(.bounded) struct ConformanceDocumentTests {
    /// A row of a table: a case of the originals' tests, the tests here that mirror it, and a note.
    private struct Row: Sendable {
        var name: String
        /// As `Suite.function`, or `Suite`.
        var tests: [String]
        var note: String
    }

    private static func rows() throws -> [Row] {
        let text = try #require(PackageTree.text("docs/conformance.md"))
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            // The line below the header of a table has only dashes.
            guard cells.count == 6, cells[0].isEmpty, !cells[1].isEmpty, !cells[1].hasPrefix("--") else { return nil }
            return Row(name: cells[1], tests: tests(cells[3]), note: cells[4])
        }
    }

    /// The tests in a cell. `.function`, or `function` alone, is of the suite before it.
    private static func tests(_ cell: String) -> [String] {
        var suite = ""
        let words = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter {
            $0.offset % 2 == 1
        }
        return words.compactMap { _, word in
            let parts = (word.split(separator: "/").last ?? word).split(
                separator: ".", omittingEmptySubsequences: false)
            if let named = parts.first, named.hasSuffix("Tests") { suite = String(named) }
            guard let function = parts.last, !function.hasSuffix("Tests") else { return suite }
            return "\(suite).\(function)"
        }
    }

    @Test func namesOnlyTestsThatExist() throws {
        let functions = Dictionary(
            PackageTree.swiftFiles("Tests").map { file in
                let name = file.path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
                return (String(name), file.text)
            }, uniquingKeysWith: { $0 + $1 })
        let rows = try Self.rows()
        #expect(rows.count > 50)
        for row in rows {
            #expect(!row.tests.isEmpty || !row.note.isEmpty, "\(row.name) has neither a test nor a reason")
            for test in row.tests {
                let parts = test.split(separator: ".").map(String.init)
                let file = try #require(functions[parts[0]], "\(row.name): there is no \(parts[0]).swift in Tests")
                guard parts.count == 2 else { continue }
                #expect(file.contains("func \(parts[1])("), "\(row.name): there is no test \(test)")
            }
        }
    }
}
