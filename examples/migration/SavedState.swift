import Foundation

/// The state that the app has saved about its user: ADAL's `userId` by an earlier version, MSAL's identifier since.
struct SavedState: Codable {
    var userId: String?
    var identifier: String?

    /// Reads the state; empty if there is no file.
    init(file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    func save(to file: String) throws {
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: file), options: .atomic)
    }
}
