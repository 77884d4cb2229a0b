package import Foundation

/// The package's executables.
package enum Executable {
    /// The build folder, which the executables share with the tests.
    package static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent()
    }

    /// The path of one of this package's executables by its name; an absolute path is returned as it is.
    package static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appendingPathComponent(name).path
    }
}
