internal import AgentTestSupport
internal import Foundation
internal import Testing

/// One version of one of Microsoft's Python libraries, installed at its first use.
struct PythonLibrary: Sendable, CustomTestStringConvertible {
    var name: String
    var version: String
    var testDescription: String { "\(name) \(version)" }

    /// Runs one of the scripts beside this file with it; returns what it printed, a JSON object.
    func run(_ script: String, _ arguments: [String], in f: AgentProcessFixture) async throws -> [String: Any] {
        let target = try await Self.finish(
            Self.scripts.appending(path: "setup.sh").path, [Self.virtualEnvironment, name, version],
            ProcessInfo.processInfo.environment)
        var environment = f.environment
        environment["PYTHONPATH"] = target.trimmingCharacters(in: .newlines)
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        environment["PYTHONWARNINGS"] = "ignore"
        let output = try await Self.finish(
            "\(Self.virtualEnvironment)/bin/python", [Self.scripts.appending(path: script).path] + arguments,
            environment)
        return try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    /// Makes the virtual environment that all versions share.
    static func prepare() async throws {
        let setUp = package.appending(path: "Tests/EntraEmulatorTests/python/setup.sh").path
        _ = try await finish(setUp, [virtualEnvironment], ProcessInfo.processInfo.environment)
    }

    private static func finish(
        _ program: String, _ arguments: [String], _ environment: [String: String]
    ) async throws -> String {
        let ended = try await TestProcess(program, arguments, environment: environment).finish()
        try #require(ended.status == 0, "\(program): \(ended.errors)")
        return ended.output
    }

    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "python")
    private static let package = scripts.deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let virtualEnvironment = package.appending(path: ".build/python").path
}
