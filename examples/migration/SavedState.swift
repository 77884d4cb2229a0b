import Foundation

/// What the app has saved about its user: ADAL's userId from its earlier life, MSAL's identifier since.
struct SavedState: Codable {
    var userId: String?
    var identifier: String?

    /// An app that has saved nothing starts with nothing.
    init(file: String) throws {
        guard FileManager.default.fileExists(atPath: file) else { return }
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    }

    func save(to file: String) throws {
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: file), options: .atomic)
    }
}
