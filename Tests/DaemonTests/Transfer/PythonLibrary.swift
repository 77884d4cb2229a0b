internal import AgentTestSupport
internal import Foundation
internal import TestSupport
internal import Testing

/// A version of one of Microsoft's libraries for Python, installed at its first use.
struct PythonLibrary: Sendable, CustomTestStringConvertible {
    var name: String
    var version: String
    var testDescription: String { "\(name) \(version)" }

    /// Runs a script of `Tests/DaemonTests/python` with the library, and returns its output, a JSON object.
    func run(_ script: String, _ arguments: [String], in f: AgentProcessFixture) async throws -> [String: Any] {
        let target = try await Python.output(
            of: PackageFolder.path("Tests/DaemonTests/python/install.sh"), [Python.virtualEnvironment, name, version])
        var environment = f.environment
        environment["PYTHONPATH"] = target.trimmingCharacters(in: .newlines)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["PYTHONWARNINGS"] = "ignore"
        let output = try await Python.run("Tests/DaemonTests/python/\(script)", arguments, environment: environment)
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
}
