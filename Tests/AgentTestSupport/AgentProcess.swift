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
package final class TestProcess {
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
    package func waitForError(_ text: String) throws -> String {
        var printed = ""
        while !printed.contains(text) {
            let data = errors.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Ended(printed: printed) }
            printed += String(decoding: data, as: UTF8.self)
        }
        return printed
    }

    /// Waits for its end and returns everything it printed since the last wait.
    package func finish() -> (status: Int32, output: String, errors: String) {
        let out = output.fileHandleForReading.readDataToEndOfFile()
        let err = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: out, as: UTF8.self), String(decoding: err, as: UTF8.self))
    }

    /// Ends it with no chance to tidy up.
    package func killHard() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package struct Ended: Error {
        package let printed: String
    }
}
