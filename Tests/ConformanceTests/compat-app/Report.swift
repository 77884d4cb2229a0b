internal import Foundation

/// What a step came to, as one line of JSON. Tokens are shown: they are the emulator's.
struct Report: Encodable {
    var username: String?
    var identifier: String?
    var token: String?
    var scopes: [String]?
    var authority: String?
    var tenant: String?
    var accounts: [Report]?
    var tenants: [String]?
    var domain: String?
    var code: Int?

    init() {}

    init(_ error: NSError) {
        domain = error.domain
        code = error.code
    }

    func write() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        FileHandle.standardOutput.write(try encoder.encode(self) + Data("\n".utf8))
    }
}
