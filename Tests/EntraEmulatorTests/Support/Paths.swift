internal import Foundation

/// Where the tests find what they run.
enum Paths {
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let python = package.appending(path: "Tests/EntraEmulatorTests/python")

    /// Microsoft's Python libraries, kept from one run to the next.
    static let virtualEnvironment = package.appending(path: ".build/python")

    /// The executable is built next to the tests.
    static let emulator = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "entra-emulator")
}

/// Runs a test with a directory of its own, and removes it afterwards.
func withTemporaryDirectory<Result: Sendable>(_ body: (URL) async throws -> Result) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory.appending(path: "entra-emulator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}
