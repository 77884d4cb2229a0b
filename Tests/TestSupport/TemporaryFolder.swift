internal import Foundation

/// A folder for one test, with a path short enough for a socket; removed with the last reference.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let name = UUID().uuidString.prefix(8).lowercased()
        path = "/tmp/sso-test-\(name)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in the folder.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a program of lines for `sh`, and returns its path.
    package func makeProgram(_ name: String, _ lines: String) async throws -> String {
        try await makeProgram(name, #"printf '%s\n' '#!/bin/sh' "$1" >"$0" && chmod 700 "$0""#, lines)
    }

    /// Copies a program, and returns its path.
    package func copyProgram(_ name: String, from original: String) async throws -> String {
        try await makeProgram(name, #"cp "$1" "$0""#, original)
    }

    /// Another process writes the file. If this one did, processes that other tests start at the same time could have it open for
    /// writing for a moment, and it could not be executed (ETXTBSY).
    private func makeProgram(_ name: String, _ script: String, _ argument: String) async throws -> String {
        let program = file(name)
        let writer = try await TestProcess("/bin/sh", ["-c", script, program, argument]).finish()
        guard writer.status == 0 else { throw POSIXError(.EIO, userInfo: [NSLocalizedDescriptionKey: writer.errors]) }
        return program
    }

    /// A file's permission bits.
    package static func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
