internal import TestSupport
internal import Testing

/// Every member of what `ssoctl --json` prints is in docs/command-line.md, or in a page to which it links.
@Suite(.bounded) struct ResultDocumentTests {
    private static let documents = ["docs/command-line.md", "docs/import.md", "docs/metrics.md"]

    /// The structures of a file that are written as JSON, with the names of their members: those of the coding keys, else those of the
    /// stored properties.
    private static func structures(in file: PackageTree.File) -> [(name: String, members: Set<String>)] {
        let lines = file.lines
        return lines.indices.compactMap { index in
            guard let head = lines[index].wholeMatch(of: #/( *)(?:private )?struct (\w+): Encodable \{/#) else {
                return nil
            }
            let body = lines[(index + 1)...].prefix { !$0.hasPrefix("\(head.1)}") }
            let keys = body.compactMap { line in
                line.wholeMatch(of: #/ *(?:private )?enum CodingKeys: CodingKey \{ case (.+) \}/#)
            }
            let properties = body.compactMap { line in
                line.wholeMatch(of: #/( +)(?:private\(set\) )?(?:let|var) (\w+)(?:: [^{]+| = [^{]+)/#)
            }
            let members =
                keys.first.map { $0.1.split(separator: ", ").map(String.init) }
                ?? properties.filter { $0.1.count == head.1.count + 4 }.map { String($0.2) }
            return (String(head.2), Set(members))
        }
    }

    @Test func describesEachMember() throws {
        let texts = try Self.documents.map { try #require(PackageTree.text($0)) }
        let described = Set(texts.flatMap { $0.matches(of: #/`(\w+)`/#).map { String($0.output.1) } })
        let example = Set(texts[0].matches(of: #/"(\w+)": /#).map { String($0.output.1) })
        var count = 0
        for file in PackageTree.swiftFiles("Sources/ssoctl") {
            // Some members of a failure are in the example alone.
            let known = file.path.hasSuffix("/CommandFailure.swift") ? described.union(example) : described
            for structure in Self.structures(in: file) {
                let missing = structure.members.subtracting(known).sorted()
                #expect(missing.isEmpty, "\(file.path): no page describes \(missing) of \(structure.name)")
                count += structure.members.count
            }
        }
        #expect(count > 100)
    }
}
