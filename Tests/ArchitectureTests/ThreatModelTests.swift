internal import Foundation
internal import TestSupport
internal import Testing

/// docs/threat-model.md names the test that shows each defence.
@Suite(.bounded) struct ThreatModelTests {
    @Test func namesTestsThatExist() throws {
        let named = try defences().flatMap { row in
            (row.split(separator: "|").last ?? "").matches(of: /`([a-z][A-Za-z0-9]+)`/).map { String($0.output.1) }
        }
        #expect(named.count > 40)
        // The first function after the attribute; other functions of the same name test nothing.
        let tests = try swiftFiles(below: PackageFolder.path("Tests")).flatMap { file in
            file.components(separatedBy: "@Test").dropFirst().compactMap { rest in
                rest.firstMatch(of: /func ([A-Za-z0-9]+)\(/).map { String($0.output.1) }
            }
        }
        for name in Set(named).subtracting(tests) { Issue.record("\(name) is no test") }
    }

    @Test func namesATestForEachDefence() throws {
        for row in try defences() { #expect(row.split(separator: "|").last?.contains("`") == true, "\(row)") }
    }

    /// The rows of the tables.
    private func defences() throws -> [Substring] {
        let text = try String(contentsOfFile: PackageFolder.path("docs/threat-model.md"), encoding: .utf8)
        let start = try #require(text.range(of: "## Threats and defences")?.upperBound)
        let end = try #require(text.range(of: "## Out of scope")?.lowerBound)
        return text[start..<end].split(separator: "\n").filter { $0.hasPrefix("| ") && !$0.hasPrefix("| threat |") }
    }

    private func swiftFiles(below folder: String) throws -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return try names.filter { $0.hasSuffix(".swift") }.map { name in
            try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
        }
    }
}
