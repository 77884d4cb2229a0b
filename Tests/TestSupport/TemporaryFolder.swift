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

    /// A file's permission bits.
    package static func mode(of path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }
}
