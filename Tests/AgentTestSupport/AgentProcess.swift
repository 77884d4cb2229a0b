package import Foundation

/// The executables, as processes of their own.
package enum Executable {
    /// The folder that the build put them in, next to the tests.
    package static var folder: URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent()
    }

    package static func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}

/// A process that a test started, with what it printed.
///
/// Unchecked because Foundation's `Process` and `Pipe` are not marked; a test uses one from one task at a time.
package final class TestProcess: @unchecked Sendable {
    package let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    /// Starts `executable`, a path or the name of one of this package's own.
    package init(_ executable: String, _ arguments: [String] = [], environment: [String: String]) throws {
        process.executableURL =
            executable.hasPrefix("/") ? URL(fileURLWithPath: executable) : Executable.url(executable)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Waits until it prints a line that contains `text` on standard error; returns everything it printed up to then.
    @discardableResult
    package func waitForError(_ text: String) async throws -> String {
        var printed = ""
        while !printed.contains(text) {
            let data = try await offPool { self.errors.fileHandleForReading.availableData }
            guard !data.isEmpty else { throw Ended(printed: printed) }
            printed += String(decoding: data, as: UTF8.self)
        }
        return printed
    }

    /// Waits for its end and returns everything it printed since the last wait.
    package func finish() async -> (status: Int32, output: String, errors: String) {
        async let out = Self.read(output)
        async let err = Self.read(errors)
        let printed = await (out, err)
        await waitForExit()
        return (process.terminationStatus, printed.0, printed.1)
    }

    /// Ends it with no chance to tidy up.
    package func killHard() async {
        kill(process.processIdentifier, SIGKILL)
        await waitForExit()
    }

    private func waitForExit() async {
        _ = try? await offPool { self.process.waitUntilExit() }
    }

    private static func read(_ pipe: Pipe) async -> String {
        let data = try? await offPool { pipe.fileHandleForReading.readDataToEndOfFile() }
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    package struct Ended: Error {
        package let printed: String
    }
}
