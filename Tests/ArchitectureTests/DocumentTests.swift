internal import Foundation
internal import TestSupport
internal import Testing

/// The files that the documents link to, the tests and paths that they name, and the functions, types and folders that
/// docs/architecture.md names, exist.
@Suite(.bounded) struct DocumentTests {
    @Test func findsTheDocuments() {
        #expect(
            Set(Documents.all).isSuperset(of: [
                "README.md", "docs/architecture.md", "Protos/PROTOCOL.md", "examples/python-client/README.md",
                "Sources/MSAL/MSAL.docc/MSAL.md",
            ]))
    }

    @Test(arguments: Documents.all)
    func linksToFilesThatExist(document: String) throws {
        let folder = document.split(separator: "/").dropLast().joined(separator: "/")
        for line in try Self.prose(of: document) {
            let links = line.matches(of: #/\]\(([^)#\s]+)/#).map { $0.output.1 }
            for link in links where !link.hasPrefix("http") {
                let path = PackageFolder.path(folder.isEmpty ? String(link) : "\(folder)/\(link)")
                #expect(FileManager.default.fileExists(atPath: path), "\(document): there is no \(link)")
            }
        }
    }

    @Test(arguments: Documents.all)
    func linksToHeadingsThatExist(document: String) throws {
        let folder = PackageFolder.root.appending(path: document).deletingLastPathComponent()
        for line in try Self.prose(of: document) {
            for link in line.matches(of: #/\]\(([^)#\s]*)#([^)\s]+)\)/#) where !link.output.1.hasPrefix("http") {
                let target = link.output.1.isEmpty ? document : String(link.output.1)
                let base = link.output.1.isEmpty ? PackageFolder.root : folder
                guard target.hasSuffix(".md") else { continue }
                let text = try String(contentsOf: base.appending(path: target), encoding: .utf8)
                let anchors = text.split(separator: "\n").filter { $0.hasPrefix("#") }.map(Self.anchor)
                #expect(anchors.contains(String(link.output.2)), "\(document): \(target) has no #\(link.output.2)")
            }
        }
    }

    /// The anchor of a heading: lower case, without punctuation, hyphens for blanks.
    private static func anchor(_ heading: Substring) -> String {
        let title = heading.drop { $0 == "#" }.trimmingPrefix(" ").lowercased()
        return String(title.compactMap { $0 == " " ? "-" : $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : nil })
    }

    /// The pages that a reader may come to first; each decision is listed in the index of decisions, which says what one is.
    private static let pages = Documents.all.filter { document in
        ["SECURITY.md", "CONTRIBUTING.md", "Protos/PROTOCOL.md", "examples/README.md"].contains(document)
            || (document.hasPrefix("docs/") && !document.hasPrefix("docs/decisions/"))
    }

    @Test(arguments: pages) func namesItsReadersInTheFirstSentence(document: String) throws {
        let lines = try #require(PackageTree.text(document)).split(separator: "\n")
        #expect(lines.count > 1 && lines[1].hasPrefix("For "), "\(document) does not say for whom it is")
    }

    @Test func listsEveryPageInTheIndex() throws {
        let index = try #require(PackageTree.text("docs/README.md"))
        for document in Documents.all where document.hasPrefix("docs/") && !document.hasPrefix("docs/decisions/") {
            let name = String(document.dropFirst("docs/".count))
            #expect(name == "README.md" || index.contains("](\(name))"), "docs/README.md does not list \(name)")
        }
    }

    @Test func listsEveryDecisionByItsTitle() throws {
        let index = try #require(PackageTree.text("docs/decisions/README.md"))
        let pages = Documents.all.filter { $0.hasPrefix("docs/decisions/0") }
        #expect(pages.count > 50)
        for page in pages {
            let name = String(page.dropFirst("docs/decisions/".count))
            let heading = try #require(PackageTree.text(page)?.split(separator: "\n").first)
            let (number, title) = (name.prefix(4), heading.dropFirst("# 0000 ".count))
            #expect(heading.hasPrefix("# \(number) "), "\(page)")
            #expect(index.contains("| [\(number)](\(name)) | \(title) |"), "the index does not list “\(title)”")
        }
    }

    /// Each failure has its row in docs/troubleshooting.md, with what to do.
    @Test func explainsEveryFailure() throws {
        let specification = try #require(PackageTree.text("Protos/PROTOCOL.md"))
        let page = try #require(PackageTree.text("docs/troubleshooting.md"))
        let codes = specification.matches(of: #/(?m)^\| (-5\d+) \| `(\w+)` \|/#).map {
            "| \($0.output.1) | `\($0.output.2)` |"
        }
        #expect(codes.count > 35)
        for code in codes { #expect(page.contains(code), "docs/troubleshooting.md has no row \(code)") }
    }

    /// Names in docs/architecture.md of modules and functions that are declared elsewhere.
    private static let foreignNames: Set = ["Foundation", "FoundationEssentials", "assumeIsolated", "foci"]

    @Test func namesFunctionsTypesAndFoldersThatExist() throws {
        let files = (PackageTree.swiftFiles("Sources") + PackageTree.swiftFiles("Tests")).map(DeclaredNames.init)
        let paths = Set(
            ["Sources", "Tests", "Protos"].flatMap { folder in
                (FileManager.default.subpaths(atPath: PackageFolder.path(folder)) ?? []).flatMap { path in
                    Self.endings(of: "\(folder)/\(path)")
                }
            })
        let names = try Self.names(in: "docs/architecture.md").subtracting(Self.foreignNames)
        #expect(names.count > 100)
        for name in names where !paths.contains(name) {
            let parts = name.split(separator: ".").map(String.init)
            let isDeclared =
                parts.count == 2
                ? files.contains { $0.types.contains(parts[0]) && $0.members.contains(parts[1]) }
                : files.contains { $0.types.contains(name) || $0.members.contains(name) }
            #expect(isDeclared, "docs/architecture.md names \(name), which does not exist")
        }
    }

    /// The types of the tests, and the folders of their targets.
    private static let tests = Set(
        PackageTree.swiftFiles("Tests").flatMap { DeclaredNames($0).types }
            + ((try? FileManager.default.contentsOfDirectory(atPath: PackageFolder.path("Tests"))) ?? []))

    /// docs/conformance.md also names tests of the originals; `ConformanceDocumentTests` reads it.
    @Test(arguments: Documents.all.filter { $0 != "docs/conformance.md" })
    func namesTestsAndPathsThatExist(document: String) throws {
        for name in try Self.names(in: document) {
            if ["Protos/", "Sources/", "Tests/", "docs/", "examples/", "packaging/"].contains(where: name.hasPrefix) {
                let path = PackageFolder.path(name)
                #expect(FileManager.default.fileExists(atPath: path), "\(document): there is no \(name)")
            } else if name.hasSuffix("Tests"), !name.contains("/") {
                #expect(Self.tests.contains(name), "\(document): there is no \(name)")
            }
        }
    }

    /// The codes of failures with their names, as in the table of the protocol.
    private static let codes = Set(
        (PackageTree.text("Protos/PROTOCOL.md") ?? "").matches(of: #/(?m)^\| (-5\d+) \| `(\w+)` \|/#).map {
            "\($0.output.1) \($0.output.2)"
        })

    @Test(arguments: Documents.all) func namesEachCodeAsTheProtocolDoes(document: String) throws {
        let text = try #require(PackageTree.text(document))
        let behind = text.matches(of: #/`(\w+)`\s+\((-5\d+)\)/#).map { "\($0.output.2) \($0.output.1)" }
        let before = text.matches(of: #/(-5\d+),? `(\w+)`/#).map { "\($0.output.1) \($0.output.2)" }
        for code in behind + before { #expect(Self.codes.contains(code), "\(document): \(code)") }
    }

    /// The lines of a document that are not code.
    private static func prose(of document: String) throws -> [Substring] {
        let pieces = try #require(PackageTree.text(document)).split(separator: "```", omittingEmptySubsequences: false)
        return pieces.enumerated().filter { $0.offset.isMultiple(of: 2) }.flatMap { $0.element.split(separator: "\n") }
    }

    /// The names in the code spans of a document, without argument labels: `Type.member`, a plain name, or a path.
    private static func names(in document: String) throws -> Set<String> {
        let spans = try prose(of: document).flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { $0.element }
        }
        let names = spans.map { span in span.prefix { $0 != "(" }.drop { $0 == "." } }
        let isName: (Character) -> Bool = { $0.isLetter || $0.isNumber || "._-/".contains($0) }
        return Set(names.filter { $0.first?.isLetter == true && $0.allSatisfy(isName) }.map(String.init))
    }

    /// A path, and the paths that it ends with: `a/b/c`, `b/c`, `c`.
    private static func endings(of path: String) -> [String] {
        let parts = path.split(separator: "/")
        return parts.indices.map { parts[$0...].joined(separator: "/") }
    }
}

/// The names that a file declares.
private struct DeclaredNames {
    /// The types that it declares or extends.
    private(set) var types: Set<String> = []
    /// Functions, properties and cases.
    private(set) var members: Set<String> = []

    init(_ file: PackageTree.File) {
        if file.text.contains("init(") { members.insert("init") }
        for (_, line) in file.code {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
            for (keyword, name) in zip(words, words.dropFirst()) {
                switch keyword {
                case "actor", "class", "enum", "extension", "protocol", "struct", "typealias": types.insert(name)
                case "case", "func", "let", "var": members.insert(name)
                default: break
                }
            }
        }
    }
}
