internal import Testing

/// A Python with Microsoft's libraries, in a virtual environment that is kept from one run to the next.
package enum Python {
    /// The folder of the virtual environment, which `prepare` creates.
    package static let virtualEnvironment = PackageFolder.path(".build/python")

    /// Installs what `Tests/TestSupport/python/requirements.txt` names, where it is missing.
    package static func prepare() async throws {
        _ = try await output(of: PackageFolder.path("Tests/TestSupport/python/setup.sh"), [virtualEnvironment])
    }

    /// Runs a script and returns its standard output; fails the test if the script fails.
    ///
    /// - Parameters:
    ///   - script: its path from the package's root.
    ///   - environment: nil is the environment of this process.
    package static func run(
        _ script: String, _ arguments: [String], environment: [String: String]? = nil
    ) async throws -> String {
        try await output(
            of: "\(virtualEnvironment)/bin/python", [PackageFolder.path(script)] + arguments, environment: environment)
    }

    /// Runs a program and returns its standard output; fails the test if the program fails.
    package static func output(
        of program: String, _ arguments: [String], environment: [String: String]? = nil
    ) async throws -> String {
        let ended = try await TestProcess(program, arguments, environment: environment).finish()
        try #require(ended.status == 0, "\(program): \(ended.errors)")
        return ended.output
    }
}
