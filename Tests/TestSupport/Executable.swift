package import Foundation

/// The package's executables.
package enum Executable {
    /// The folder that the build put them in, next to the tests.
    package static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent()
    }

    /// A path as it is, or the place of one of the package's own.
    package static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appendingPathComponent(name).path
    }
}
