internal import TestSupport
internal import Testing

/// docs/configuration.md, from which the manual page sso-agent.toml(5) is made, has every key and every variable.
@Suite(.bounded) struct ConfigurationDocumentTests {
    private static let document = "docs/configuration.md"

    /// The text of a section.
    private static func section(_ name: String, of document: String) throws -> Substring {
        let text = try #require(PackageTree.text(document))
        let parts = text.split(separator: "\n## ")
        return try #require(parts.first { $0.hasPrefix(name + "\n") }, "\(document) has no section \(name)")
    }

    /// The names in the first column of the tables of a text.
    private static func firstColumn(_ text: Substring) -> Set<String> {
        let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
        let cells = rows.map { $0.dropFirst().prefix { $0 != "|" } }
        return Set(cells.flatMap { $0.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } })
    }

    private static func keys(_ path: String) throws -> Set<String> {
        let text = try #require(PackageTree.text("Sources/AgentConfiguration/\(path)"))
        return Set(text.matches(of: #/case "(\w+)":/#).map { String($0.output.1) })
    }

    @Test func describesEachKeyOfEachTable() throws {
        let reader = try #require(PackageTree.text("Sources/AgentConfiguration/Configuration.swift"))
        var tables: [String: Set<String>] = [:]
        for match in reader.matches(of: #/case \(\.(\w+), "(\w+)"\)/#) {
            tables[String(match.output.1), default: []].insert(String(match.output.2))
        }
        #expect(tables.count >= 6)
        for (table, keys) in tables {
            let described = Self.firstColumn(try Self.section("[\(table)]", of: Self.document))
            #expect(described == keys, "[\(table)] in \(Self.document)")
        }
    }

    @Test func describesEachKeyOfAppsAndRules() throws {
        let apps = Self.firstColumn(try Self.section("[apps.NAME]", of: Self.document))
        #expect(apps == (try Self.keys("ConfiguredApp.swift")))
        let rules = Self.firstColumn(try Self.section("Rules", of: "docs/policy.md"))
        #expect(rules == (try Self.keys("PolicyRule+TOML.swift")))
    }

    @Test func describesEachVariable() throws {
        let described = Self.firstColumn(try Self.section("Environment variables", of: Self.document))
        let names = PackageTree.swiftFiles("Sources").flatMap { file in
            file.text.matches(of: #/"(SSO_AGENT_[A-Z_]+)"/#).map { String($0.output.1) }
        }
        #expect(Set(names).count >= 9)
        #expect(described.filter { $0.hasPrefix("SSO_AGENT_") } == Set(names))
    }
}
