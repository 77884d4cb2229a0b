package import Foundation

/// The package's executables, and the system's.
package enum Executable {
    /// The build folder, which the executables share with the tests.
    package static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent()
    }

    /// The path of a program that `PATH` leads to; nil if it is not installed.
    package static func installed(_ name: String) -> String? {
        let folders = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether a program is installed, for `.enabled(if:)`.
    package static func isInstalled(_ name: String) -> Bool { installed(name) != nil }

    /// The path of one of this package's executables by its name; an absolute path is returned as it is.
    package static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : folder.appendingPathComponent(name).path
    }
}
