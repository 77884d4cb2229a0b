internal import Foundation
internal import TestSupport
internal import Testing

/// docs/threat-model.md names the test that shows each defence.
@Suite(.bounded) struct ThreatModelTests {
    @Test func namesTestsThatExist() throws {
        let text = try String(contentsOfFile: PackageFolder.path("docs/threat-model.md"), encoding: .utf8)
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("`") }
        let named = rows.flatMap { row in
            (row.split(separator: "|").last ?? "").matches(of: /`([a-z][A-Za-z0-9]+)`/).map { String($0.output.1) }
        }
        #expect(named.count > 40)
        let tests = try swiftFiles(below: PackageFolder.path("Tests")).joined(separator: "\n")
        for name in Set(named) { #expect(tests.contains("func \(name)("), "\(name)") }
    }

    @Test func namesATestForEachDefence() throws {
        let text = try String(contentsOfFile: PackageFolder.path("docs/threat-model.md"), encoding: .utf8)
        let start = try #require(text.range(of: "## Threats and defences")?.upperBound)
        let end = try #require(text.range(of: "## Out of scope")?.lowerBound)
        let rows = text[start..<end].split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| threat |") }
        for row in rows { #expect(row.split(separator: "|").last?.contains("`") == true, "\(row)") }
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        }
    }
}
