package import Foundation

/// The package that the tests belong to.
package enum PackageFolder {
    /// The folder of the manifest.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file or folder in it, by its path from the root.
    package static func path(_ relative: String) -> String { root.appending(path: relative).path }
}
