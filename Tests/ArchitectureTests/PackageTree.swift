internal import Foundation
internal import TestSupport
internal import Testing

/// The package's own files, read as text.
enum PackageTree {
    struct File: Sendable {
        /// Relative to the package root, such as `Sources/TokenModel/Account.swift`.
        var path: String
        var text: String

        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

        /// The folder below `Sources` or `Tests`: the target's name.
        var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

        /// The lines that are not comments, with their numbers, which start at 1.
        var code: [(number: Int, line: Substring)] {
            zip(1..., lines).filter { !$0.1.trimmingPrefix(while: \.isWhitespace).hasPrefix("//") }
                .map { (number: $0.0, line: $0.1) }
        }
    }

    /// The text of a file; nil when there is none.
    static func text(_ path: String) -> String? {
        try? String(contentsOf: PackageFolder.root.appending(path: path), encoding: .utf8)
    }

    /// The Swift files below a folder, in the order of their paths. A folder without any fails the test, which would have
    /// nothing to check after a folder was renamed.
    static func swiftFiles(_ folder: String) -> [File] {
        let paths = FileManager.default.subpaths(atPath: PackageFolder.path(folder)) ?? []
        let files = paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") && !$0.contains(".docc/") }
            .sorted().compactMap { path in
                text("\(folder)/\(path)").map { File(path: "\(folder)/\(path)", text: $0) }
            }
        if files.isEmpty { Issue.record("there are no Swift files in \(folder)") }
        return files
    }
}
