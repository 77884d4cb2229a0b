package import Foundation

/// The package that the tests belong to.
package enum PackageFolder {
    /// The folder of the manifest.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file or folder in it, by its path from the root.
    package static func path(_ relative: String) -> String { root.appending(path: relative).path }
}

/// The documents of the package.
package enum Documents {
    /// Every document, by its path from the root: the pages, those of the examples, and those of the libraries' catalogues.
    package static let all: [String] = {
        let examples = names(in: "examples").map { "examples/\($0)" }
        let catalogues = names(in: "Sources").map { "Sources/\($0)/\($0).docc" }
        return (["", "docs", "docs/decisions", "Protos", "examples"] + examples + catalogues).flatMap { folder in
            names(in: folder).filter { $0.hasSuffix(".md") }.map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
        }
    }()

    private static func names(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: PackageFolder.path(folder))) ?? []).sorted()
    }
}
