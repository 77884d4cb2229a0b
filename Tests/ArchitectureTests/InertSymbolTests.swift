internal import Foundation
internal import TestSupport
internal import Testing

/// What the compatibility modules accept and do not use is in their guides.
@Suite(.bounded) struct InertSymbolTests {
    /// A symbol of an original that has no effect here.
    private struct Symbol {
        var declaration: String
        /// The names by one of which a guide may mention it: its own, that of its type, and the labels of an initializer.
        var names: [String]

        /// Nil for a line that is not of such a symbol.
        init?(_ line: Substring) throws {
            let cells = line.split(separator: "\t").map(String.init)
            guard cells.count > 3, cells[3] == "inert", !cells[2].hasPrefix("typealias") else { return nil }
            declaration = cells[2]
            let keyword = /\b(?:class )?(?:var|let|func|case|enum|class|protocol|init)\b\s*(\w*)/
            let match = try #require(declaration.firstMatch(of: keyword), "\(line)")
            names = match.1.isEmpty ? declaration.matches(of: /(\w+):/).map { String($0.1) } : [String(match.1)]
            names.append(cells[0])
        }
    }

    @Test(arguments: ["msal", "adal"]) func namesEverySymbolWithoutEffect(library: String) throws {
        let guide = try #require(PackageTree.text("docs/\(library).md"))
        let table = try #require(PackageTree.text("Tests/APIParity/\(library).tsv"))
        let symbols = try table.split(separator: "\n").compactMap { try Symbol($0) }
        #expect(symbols.count > 10)
        for symbol in symbols {
            #expect(
                symbol.names.contains { $0.count > 1 && guide.contains("`\($0)") },
                "docs/\(library).md does not say that this has no effect: \(symbol.declaration)")
        }
    }
}
